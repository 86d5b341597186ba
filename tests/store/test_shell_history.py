"""The lines of the database shell: which are kept, in a private file, by several shells at once."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from helm_cli.store import shell_history
from tests.program import environment


@pytest.mark.parametrize(
    "line",
    [
        "SELECT 1;",
        "select id, name from authors where id = 7;",
        "\\d tickets",
        "UPDATE tickets SET status = 'closed'\nWHERE id = 1;",
        "SELECT 'http://example.org/a:b@c';",
    ],
)
def test_an_ordinary_line_is_kept(home: Path, line: str) -> None:
    shell_history.keep(home, line)
    assert shell_history.load(home) == [line]
    assert stat.S_IMODE((home / "shell-history").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "line",
    [
        "",
        "  ",
        " SELECT 1;",
        "SET PASSWORD = 'x';",
        "ALTER USER me WITH ENCRYPTED password 'x'",
        "alter role me valid until 'infinity'",
        "CREATE USER 'a'@'%' IDENTIFIED BY 'x'",
        "SELECT crypt('x', gen_salt('bf'))",
        "SELECT pgp_sym_encrypt('a', 'x')",
        "UPDATE users SET pwd = 'x'",
        "INSERT INTO api_tokens VALUES ('x')",
        "SELECT * FROM t WHERE secret = 'x'",
        "SELECT aes_encrypt('a', 'x')",
        "SELECT md5('x')",
        "SELECT dblink('host=h user=u')",
        "SELECT 'postgres://u:x@h/d'",
        "SELECT 'redis://x@h'",
        "PRAGMA key='x'",
        "PRAGMA rekey = 'x'",
        "ATTACH 'a.db' AS b KEY 'x'",
        "SELECT 'AKIAIOSFODNN7EXAMPLE'",
        "SELECT 'ghp_x'",
        "SELECT 'sk-live-x'",
        "SELECT 'eyJhbGciOiJIUzI1NiJ9.e30.x'",
        "SELECT 'Authorization: Bearer x'",
        "SELECT '-----BEGIN RSA KEY'",
        "CREATE USER MAPPING FOR me SERVER s",
        "CHANGE MASTER TO MASTER_HOST='h'",
        "SELECT " + "1" * 8192,
    ],
)
def test_a_line_that_may_hold_a_secret_is_not(home: Path, line: str) -> None:
    shell_history.keep(home, line)
    assert not home.exists()


def test_the_newest_lines_stay_each_once(home: Path) -> None:
    for line in ("a", "b", "a", "é\n\x1b[2J"):
        shell_history.keep(home, line)
    assert shell_history.load(home) == ["b", "a", "é\n\x1b[2J"]


def test_it_is_bounded_in_lines_and_bytes(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "shell-history").write_text("".join(f'"line {number}"\n' for number in range(5000)))
    shell_history.keep(home, "last")
    assert shell_history.load(home) == [*(f"line {number}" for number in range(3001, 5000)), "last"]
    (home / "shell-history").write_text("".join(f'"{number:08000}"\n' for number in range(400)))
    shell_history.keep(home, "last")
    kept = shell_history.load(home)
    assert (len(kept), kept[-1]) == (132, "last")


def test_what_is_no_line_is_left_out(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "shell-history").write_bytes(b'"a"\nnonsense\n7\n\xff\n\n"b"\n')
    assert shell_history.load(home) == ["a", "b"]


def test_shells_side_by_side_lose_nothing(home: Path) -> None:
    keep = (
        "import sys; from pathlib import Path; from helm_cli.store import shell_history\n"
        "for n in range(20): shell_history.keep(Path(sys.argv[1]), f'{sys.argv[2]} {n}')"
    )
    running = [subprocess.Popen([sys.executable, "-c", keep, str(home), name], env=environment({})) for name in "abcd"]
    assert [process.wait(30) for process in running] == [0] * 4
    assert sorted(shell_history.load(home)) == sorted(f"{name} {number}" for name in "abcd" for number in range(20))
