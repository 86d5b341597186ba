"""What looks like a secret in a command or a URL is named without its value, and what does not is left alone."""

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


def test_a_url() -> None:
    assert secret_words.in_url(f"https://h.test/mcp?a=1&token={SECRET}&apiKey={SECRET}") == ["token", "apiKey"]
    assert secret_words.in_url("https://h.test/mcp?q=sk-" + "a" * 20) == ["q"]
    assert secret_words.in_url("https://h.test/mcp?a=1&page=token") == []
