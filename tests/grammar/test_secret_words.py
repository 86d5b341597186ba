"""What looks like a secret in a command or a URL is named without its value, and what does not is left alone."""

import time

import pytest

from helm_cli.grammar import secret_words

SECRET = "canary-4b7c91"


@pytest.mark.parametrize(
    "name",
    [
        "API_KEY",
        "GITHUB_TOKEN",
        "token",
        "--api-key",
        "--apiKey",
        "-password",
        "X-Api-Key",
        "OPENAI_APIKEY",
        "secret",
        "client_secret",
        "DB_PASSWORD",
        "GOOGLE_CREDENTIALS",
        "GITHUB_PAT",
        "AWS_ACCESS_KEY_ID",
        "Authorization",
        "accessToken",
        "STRIPE_SECRET_KEY",
        "sshKey",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert secret_words.sounds_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "LOG_LEVEL",
        "PORT",
        "--token-file",
        "--max-tokens",
        "KEYBOARD",
        "monkey",
        "--key-path",
        "TOKEN_LIMIT",
        "--token-env",
        "path",
        "PATH",
        "auth",
        "12",
        "--",
        "",
        "--sort-key",
        "primaryKey",
        "ISSUE_KEY",
        "VAPID_PUBLIC_KEY",
        "--token-budget",
        "TOKEN_ENDPOINT",
    ],
)
def test_names_of_other_things(name: str) -> None:
    assert not secret_words.sounds_secret(name)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("srv", "--api-key", SECRET), ["--api-key"]),
        (("srv", f"--token={SECRET}"), ["--token"]),
        (("srv", f"API_KEY={SECRET}"), ["API_KEY"]),
        (("env", f"A_TOKEN={SECRET}", "srv", "--password", SECRET), ["A_TOKEN", "--password"]),
        (("srv", "--header", f"Authorization: Bearer {SECRET}"), ["a word with the shape of a token"]),
        (("npx", "mcp-remote", "https://h/mcp", "--header", f"X-Key:{SECRET}"), ["the header X-Key"]),
        (
            ("curl", "-H", f"X-Api-Key: {SECRET}", f"--header=X-Token: {SECRET}"),
            ["the header X-Api-Key", "the header X-Token"],
        ),
        (("curl", "-H", "Accept: application/json", "--header", "X-Key:$KEY"), []),
        (("srv", "ghp_" + "a1" * 18), ["a word with the shape of a token"]),
        (("srv", f"postgres://me:{SECRET}@h/d"), ["a URL with a password"]),
        (("srv", f"https://h/mcp?api_key={SECRET}"), ["api_key"]),
        (("srv", "--token-file", "/run/token", "--max-tokens", "100000"), []),
        (("srv", "--api-key", "--verbose"), []),
        (("srv", "--api-key"), []),
        (("srv", "--key=id"), []),
        (("srv", "--key", "/etc/key.pem"), []),
        (("srv", "--token=$TOKEN", "--token", "${TOKEN}"), []),
        (("docker", "run", "-e", "GITHUB_TOKEN", "image"), []),
        (("npx", "-y", "@scope/server", "postgres://localhost/db", "https://h/mcp"), []),
        ((), []),
    ],
)
def test_a_command(words: tuple[str, ...], told: list[str]) -> None:
    assert secret_words.in_command(words) == told


# Made here, so that nobody who searches this file for secrets finds one.
GITHUB = "ghp_" + "a1" * 18
STRIPE = "sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc"
TELEGRAM = "bot123456789:" + "AA" + "x9" * 16
HEX = "0f" * 20
MIXED = "aB3dE6gH9jK2mN5pQ8sT1v"
TOKEN, PASSWORD, PART, RANDOM = secret_words.TOKEN, secret_words.PASSWORD, secret_words.PART, secret_words.RANDOM

# Words of a command -> what of them is a secret for sure.
REFUSED: dict[tuple[str, ...], list[str]] = {
    ("docker", "run", f"--env=GITHUB_TOKEN={SECRET}", "image"): ["GITHUB_TOKEN"],
    ("docker", "run", f"-eGITHUB_TOKEN={SECRET}", "image"): ["-eGITHUB_TOKEN"],
    ("docker", "run", "-e", f"MODE=1,API_KEY={SECRET}", "image"): ["API_KEY"],
    ("srv", "--config", f'{{"apiKey":"{SECRET}"}}'): ["apiKey"],
    ("srv", "--config={'db': {'password': 'abc12x'}}"): ["password"],
    ("srv", "--config", f'{{"keys": ["{GITHUB}"]}}'): [TOKEN],
    ("sh", "-c", f"export API_KEY={SECRET}; exec srv"): ["API_KEY"],
    ("sh", "-c", f"API_KEY='{SECRET}' srv --port 80"): ["API_KEY"],
    ("sh", "-c", f"cd /srv && srv --api-key {SECRET}"): ["--api-key"],
    ("sh", "-c", f"sh -c 'exec srv --auth-token={SECRET}'"): ["--auth-token"],
    ("sh", "-c", f"curl -s -H 'X-Api-Key: {SECRET}' https://h/mcp"): ["X-Api-Key"],
    ("sh", "-c", f"curl -H 'Authorization: token {SECRET}' h"): [TOKEN],
    ("srv", f"host=db user=x password={SECRET}"): ["password"],
    ("srv", "host = db password = 'abc'"): ["password"],
    ("srv", f"Server=tcp:h,1433;User Id=u;Password={SECRET};Encrypt=true"): ["Password"],
    ("srv", f"jdbc:postgresql://h/d?user=u&password={SECRET}"): ["password"],
    ("srv", f"redis://:{SECRET}@h:6379/0"): [PASSWORD],
    ("srv", "--password=abc12"): ["--password"],
    ("srv", "--db.password=x"): ["--db.password"],
    ("curl", "--user", "admin:pw", "https://h/mcp"): ["--user"],
    ("srv", "--auth=admin:pw"): ["--auth"],
    ("srv", STRIPE): [TOKEN],
    ("srv", f"--key-file={GITHUB}"): [TOKEN],
    ("srv", f"@{STRIPE}"): [TOKEN],
    ("srv", f"https://api.telegram.org/{TELEGRAM}/getMe"): [TOKEN],
    ("srv", f"https://h/{GITHUB}/mcp"): [TOKEN],
    ("srv", "https://h/%67hp_" + "a1" * 18): [TOKEN],
    ("srv", f"https://h/mcp?api%5Fkey={SECRET}"): ["api_key"],
    ("srv", f"-HX-Api-Key: {SECRET}"): ["the header X-Api-Key"],
    ("srv", "-----BEGIN RSA PRIVATE KEY-----\nMII"): [TOKEN],
    ("srv", "sk-" + "ant-api03-" + "aB3-" * 8): [TOKEN],
    ("srv", "AKIA" + "ABCDEFGHIJ234567"): [TOKEN],
    ("srv", "--key", MIXED): ["--key"],
}  # fmt: skip
# The same, where a person had better look at it and nothing more.
DOUBTED: dict[tuple[str, ...], list[str]] = {
    ("srv", HEX): [RANDOM],
    ("srv", f"--session={MIXED}45"): [RANDOM],
    ("npx", "mcp-remote", f"https://h/s/{MIXED}45/mcp"): [RANDOM],
    ("npx", "mcp-remote", f"https://h/mcp?profile={HEX}"): ["profile"],
    ("srv", "--password", "abc12"): ["--password"],
    ("srv", "--public-key", "AAAAC3NzaC1lZDI1NTE5AAAAIBq"): [RANDOM],
}
FINE: list[tuple[str, ...]] = [
    ("npx", "-y", "@modelcontextprotocol/server-filesystem", "/home/me/projects"),
    ("npx", "-y", "task-management-and-planning-mcp-server-2024"),
    ("npx", "-y", "sk-management-mcp-server"),
    ("npx", "mcp-remote", "https://h/mcp", "--header", "Authorization: Bearer ${AUTH_TOKEN}"),
    ("npx", "mcp-remote", "https://h/mcp", "--header", "Authorization:$AUTH_HEADER"),
    ("uvx", "--from", "git+https://github.com/owner/repo@0f3c2d1", "server"),
    ("uvx", "mcp-server-git", "--repository", "/src/secret-project"),
    ("docker", "run", "-i", "--rm", "--user", "node:node", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/o/image"),
    ("docker", "run", "--env=LOG_LEVEL=debug", "-v", "/keys:/keys:ro", "image@sha256:" + "0f" * 32),
    ("docker", "run", "--env-file=.env", "--secret-file", "tokens.json", "image"),
    ("srv", "--user", "1000:1000", "--auth", "localhost:8080", "--auth", "oauth2"),
    ("srv", "--password=${PASSWORD}", "--password=$PASSWORD", "--password", "-", "--password=", "--token={{token}}"),
    ("srv", "--api-key=env:API_KEY", "--token", "op://vault/item/field", "--secret", "vault:kv/x"),
    ("srv", "--credentials", "credentials.json", "--key", "certs/client.pem", "--token", "~/.token"),
    ("srv", "--sort-key=created_at", "--primary-key", "customer_id", "--project-key", "PROJECT-123"),
    ("srv", "--max-tokens=100000", "TOKEN_LIMIT=100000", "--token-budget", "2000000"),
    ("srv", "postgres://me@localhost/db", "postgres://me:$PASSWORD@h/d", "postgres://me:****@h/d"),
    ("srv", "--config", '{"tokenLimit": "100000", "apiKey": "${API_KEY}", "keyFile": "/etc/key"}'),
    ("srv", "host=db port=5432 user=x dbname=y sslmode=verify-full passfile=/home/me/.pgpass"),
    ("sh", "-c", "API_KEY=$(cat ~/.key) exec srv", "--"),
    ("sh", "-c", 'TOKEN="$TOKEN" srv --token "$TOKEN"'),
    ("python", "-m", "server", "--description", "Lists the tokens: an address and a password of each are not shown"),
    ("python", "-u", "app:main", "--auth-mode=password", "--auth-type", "bearer", "--password-prompt=true"),
    ("srv", "123e4567-e89b-12d3-a456-426614174000", "--project=123e4567-e89b-12d3-a456-426614174000"),
    ("srv", "https://mcp.notion.com/mcp", "https://h/v1/projects/123e4567-e89b-12d3-a456-426614174000?page=token"),
    ("srv", "MyVeryLongServerComponentName", "a-very-long-option-value-with-words-in-it-2024"),
    ("srv", "SELECT id, token FROM sessions WHERE token = $1", "--where", "key=value"),
]  # fmt: skip


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_a_secret_for_sure(words: tuple[str, ...]) -> None:
    assert secret_words.in_command(words) == REFUSED[words]
    assert SECRET not in repr(secret_words.signs_in_command(words))


@pytest.mark.parametrize("words", DOUBTED)
def test_what_may_be_a_secret(words: tuple[str, ...]) -> None:
    assert secret_words.in_command(words) == []
    assert secret_words.signs_in_command(words) == [secret_words.Sign(name, sure=False) for name in DOUBTED[words]]


@pytest.mark.parametrize("words", FINE)
def test_what_is_none(words: tuple[str, ...]) -> None:
    assert secret_words.signs_in_command(words) == []


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (f"https://h.test/mcp?a=1&token={SECRET}&apiKey={SECRET}", ["token", "apiKey"]),
        ("https://h.test/mcp?q=sk-" + "a" * 20, ["q"]),
        (f"https://h.test/mcp?api%5Fkey={SECRET}", ["api_key"]),
        (f"https://h.test/{GITHUB}/mcp", [PART]),
        (f"https://api.telegram.org/{TELEGRAM}", [PART]),
        ("https://hooks.slack.com/services/T0123456/B0123456/abcdefgh12345678", [PART]),
        (f"https://me:{SECRET}@h.test", [PASSWORD]),
        (f"https://h.test/s/{MIXED}45/mcp", []),
        ("https://h.test/mcp?a=1&page=token&token=$TOKEN", []),
        ("https://h.test/v1/secret/token/key", []),
    ],
)
def test_a_url(url: str, told: list[str]) -> None:
    assert secret_words.in_url(url) == told


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "bot1",
        "a=",
        "=",
        "'a':",
        "?a=",
        "%",
        "bearer ",
        "://",
        "a://a:",
        "eyJ",
        "( ",
        "-H",
        "authorization: ",
        "x",
    ],
)
def test_long_texts_take_no_longer_than_they_are_long(piece: str) -> None:
    """A profile may have as much as an export may be long, 1 MiB; a time that grows with its square is minutes."""
    long = piece * (256 * 1024 // len(piece))
    begun = time.process_time()
    secret_words.in_command(["srv", long])
    secret_words.in_url(long)
    assert time.process_time() - begun < 5
