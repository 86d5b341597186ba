"""What can be an MCP server's profile, and that its file says exactly that."""

from pathlib import Path
from typing import Any

import pytest

from helm_cli.model.errors import HelmError
from helm_cli.model.profile import Server
from helm_cli.store import groups, profiles

COMMAND = Server("s", ("npx", "-y", "server"))
URL = Server("s", url="https://mcp.test/mcp?a=1")


@pytest.mark.parametrize(
    ("profile", "text"),
    [
        (COMMAND, 'command = ["npx", "-y", "server"]\n'),
        (
            Server("s", ('a "b"', "\\", "", "é\n\x01"), token_env="T_1", start_seconds=600, credential="keychain"),
            'command = ["a \\"b\\"", "\\\\", "", "é\\u000a\\u0001"]\ntoken_env = "T_1"\nstart_seconds = 600\n'
            'credential = "keychain"\n',
        ),
        (URL._replace(credential="file"), 'url = "https://mcp.test/mcp?a=1"\ncredential = "file"\n'),
        (URL._replace(url="http://localhost:3000"), 'url = "http://localhost:3000"\n'),
    ],
)
def test_a_profile_comes_back_as_it_was_kept(home: Path, profile: Server, text: str) -> None:
    assert profiles.create(home, profile._replace(folder="/never/kept"))
    assert (home / "profiles" / "mcp" / "s.toml").read_text() == text
    assert profiles.load(home, "mcp", "s") == profile


@pytest.mark.parametrize(
    ("profile", "fault"),
    [
        (Server("s"), "it needs command or url, and only one of them"),
        (COMMAND._replace(url=URL.url), "it needs command or url, and only one of them"),
        (COMMAND._replace(command=()), "command must name a program"),
        (COMMAND._replace(command=("", "a")), "command must name a program"),
        (COMMAND._replace(command=("a", "b\0")), "command must be texts in UTF-8 that hold no NUL"),
        (COMMAND._replace(command=("a", "\ud800")), "command must be texts in UTF-8 that hold no NUL"),
        (COMMAND._replace(start_seconds=0), "start_seconds must be from 1 to 600"),
        (URL._replace(start_seconds=601), "start_seconds must be from 1 to 600"),
        (COMMAND._replace(token_env="A-B"), "token_env must be the name of an environment variable"),
        (COMMAND._replace(token_env=""), "token_env must be the name of an environment variable"),
        (COMMAND._replace(token_env="HOME"), "token_env must not be one of the variables that every server gets"),
        (COMMAND._replace(token_env="LD_PRELOAD"), "token_env must not be a variable that the loader, a shell, an"),
        (COMMAND._replace(credential="file"), "a token for a command needs token_env, the variable that gives it"),
        (URL._replace(token_env="T"), "token_env goes with a command; a URL gets its token as a header"),
        (URL._replace(url="http://mcp.test"), "url must begin with https:// (http:// is permitted only for"),
        (URL._replace(url="https://me:canary@mcp.test"), "url must not contain credentials"),
        (URL._replace(url="https://mcp.test/#a"), "url must not contain a fragment"),
    ],
)
def test_what_cannot_be_one_is_told(home: Path, profile: Server, fault: str) -> None:
    told = groups.GROUPS["mcp"].fault(profile)
    assert told is not None and told.startswith(fault)
    with pytest.raises(HelmError) as raised:
        profiles.create(home, profile)
    assert raised.value.code == "usage" and "canary" not in raised.value.message


@pytest.mark.parametrize(
    "name",
    [
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "GLIBC_TUNABLES", "GCONV_PATH"),
        *("BASH_ENV", "ENV", "IFS", "PS4", "SHELLOPTS", "BASH_FUNC_ls", "ZDOTDIR", "CDPATH"),
        *("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHON_GIL", "PERL5LIB", "PERL5OPT", "PERLLIB", "RUBYOPT"),
        *("NODE_OPTIONS", "NODE_PATH", "NPM_CONFIG_REGISTRY", "npm_config_userconfig", "UV_PYTHON", "PIP_INDEX_URL"),
        *("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "GIT_SSH_COMMAND", "GIT_ASKPASS"),
        *("LC_ALL", "LANG", "TZ", "TMPDIR", "RES_OPTIONS", "SSL_CERT_FILE", "OPENSSL_CONF", "https_proxy", "NO_PROXY"),
    ],
)
def test_a_token_is_in_no_variable_that_something_else_acts_on(name: str) -> None:
    """The loader says of each word in LD_PRELOAD that it cannot be opened, Perl what LC_ALL is, and so on."""
    fault = "token_env must not be a variable that the loader, a shell, an interpreter or a library acts on"
    assert groups.GROUPS["mcp"].fault(COMMAND._replace(token_env=name)) == fault


@pytest.mark.parametrize(
    "name",
    [
        *(
            "GITHUB_TOKEN",
            "API_KEY",
            "LD_API_KEY",
            "LD_ACCESS_TOKEN",
            "NODE_AUTH_TOKEN",
            "NPM_TOKEN",
            "UV_PUBLISH_TOKEN",
        ),
        *("PYTHONANYWHERE_API_TOKEN", "RUBYGEMS_API_KEY", "DENO_AUTH_TOKENS", "GIT_TOKEN", "GITLAB_PAT", "ENVIRONMENT"),
        *(
            "DATABASE_URL",
            "POSTGRES_CONNECTION_STRING",
            "PGPASSWORD",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "LDAP_PASSWORD",
        ),
        *("BASHHUB", "JAVASCRIPT_TOKEN", "PIPEDRIVE_API_TOKEN", "LCD", "TOKEN", "T_1"),
    ],
)
def test_a_token_may_be_in_any_other(name: str) -> None:
    assert groups.GROUPS["mcp"].fault(COMMAND._replace(token_env=name, credential="file")) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('command = "npx -y server"\n', "the value of command must be a list of texts"),
        ('command = ["a", 1]\n', "the value of command must be a list of texts"),
        ('command = ["a"]\nstart_seconds = "5"\n', "the value of start_seconds must be a whole number"),
        ('command = ["a"]\nstart_seconds = true\n', "the value of start_seconds must be a whole number"),
        ('command = ["a"]\ncredential = "here"\n', 'the value of credential must be "keychain" or "file"'),
        ('command = ["a"]\nfolder = "/x"\n', "the key folder is unknown"),
        ('comand = ["a"]\n', "the key comand is unknown (did you mean command?)"),
    ],
)
def test_a_file_that_people_wrote_is_told_by_its_place(home: Path, text: str, told: str) -> None:
    file = home / "profiles" / "mcp" / "s.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    with pytest.raises(HelmError) as raised:
        profiles.load(home, "mcp", "s")
    assert raised.value.code == "state"
    assert f"{file} cannot be used: {told}" in raised.value.message


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"start_seconds": 60}, True),
        ({"token_env": "OTHER"}, True),
        ({"credential": "keychain"}, True),
        ({"folder": "/elsewhere"}, True),
        ({"command": ("npx", "-y", "other")}, False),
        ({"command": ("npx", "-y server")}, False),
        ({"command": None, "url": "https://mcp.test"}, False),
    ],
)
def test_a_token_is_for_one_command_or_url(changes: dict[str, Any], same: bool) -> None:
    profile = COMMAND._replace(token_env="TOKEN", credential="file")
    assert (profile._replace(**changes).secret_target_digest() == profile.secret_target_digest()) is same
