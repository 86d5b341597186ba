"""How a home can be broken, and what helm says of it: the lines of `helm doctor --offline` that are not well.

HOME stands for its path, PARENT for that of the folder it is in.
"""

import json
import os
import shutil
import socket
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from helm_cli.agent import place as places
from tests.rig import team

Act = Callable[[Path], object]


def both(*acts: Act) -> Act:
    def act(home: Path) -> None:
        for one in acts:
            one(home)

    return act


def opened(name: str, mode: int = 0o644) -> Act:
    return lambda home: (home / name).chmod(mode)


def without(name: str) -> Act:
    return lambda home: (home / name).unlink()


def sql(statement: str) -> Act:
    def act(home: Path) -> None:
        with closing(sqlite3.connect(home / "state.db")) as db, db:
            db.execute(statement)

    return act


def text(name: str, content: str | bytes, mode: int = 0o600) -> Act:
    def act(home: Path) -> None:
        (home / name).parent.mkdir(mode=0o700, exist_ok=True)
        (home / name).write_bytes(content.encode() if isinstance(content, str) else content)
        (home / name).chmod(mode)

    return act


def old(name: str) -> Act:
    """A file that nobody has touched for a while."""

    def act(home: Path) -> None:
        text(name, "x")(home)
        os.utime(home / name, (time.time() - 3600, time.time() - 3600))

    return act


def damaged(home: Path) -> None:
    """Pages of the database that were overwritten."""
    with open(home / "state.db", "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096 * 8)


def another_file(home: Path) -> None:
    shutil.move(home, home.parent / "moved")
    home.write_text("")


def dangling(home: Path) -> None:
    shutil.move(home, home.parent / "moved")
    home.symlink_to("nowhere")


def socket_at(home: Path, mode: int = 0o700) -> None:
    there = places.of(home)
    places.prepare(there)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(there.socket))
    there.socket.parent.chmod(mode)


def of_another_home(home: Path) -> None:
    secrets = json.loads((home / "credentials.json").read_text())
    secrets["service/s/token"] = f"{'0' * 32}:x y"
    (home / "credentials.json").write_text(json.dumps(secrets))


UNREAD: Final = [
    "warning: workspace: workspace: not looked at, for state.db cannot be read (next: see state.db above)",
    *(
        f"warning: profiles: {name}: its file is sound; it is not tried, for state.db cannot be read"
        " (next: see state.db above)"
        for name in ("db/local-app", "service/s", "mcp/m")
    ),
]
ASIDE: Final = "(next: mv HOME/state.db HOME/state.db.broken)"
AGAIN: Final = "put back a copy of it, or move it away, review your extensions again and enter your secrets again"
EDIT: Final = '(next: "${EDITOR:-vi}" HOME/'
PARTNERS: Final = [
    f"not reachable: profiles: {name}: its secret is in credentials.json, which cannot be used"
    " (next: see credentials.json above)"
    for name in ("service/s", "mcp/m")
]

# What is done to a home -> every line that is not well.
BREAKAGES: Final[dict[str, tuple[Act, list[str]]]] = {
    "an open home": (
        lambda home: home.chmod(0o755),
        ["warning: home: folder: HOME is open to other users (mode 0755) (next: chmod 700 HOME)"],
    ),
    "a home that everybody can replace": (
        lambda home: home.parent.chmod(0o777),
        [
            "warning: home: folder: everybody can put another folder in its place, for PARENT is writable for all"
            " (next: chmod o-w PARENT)"
        ],
    ),
    "open files": (
        both(opened("state.db"), opened("profiles/db/local-app.toml")),
        ["warning: home: files: state.db is open to other users (next: chmod -R go-rwx HOME)"],
    ),
    "many open files": (
        both(*(text(f"notes-{number}", "", 0o644) for number in range(5))),
        [
            "warning: home: files: notes-0, notes-1, notes-2 and 2 more are open to other users"
            " (next: chmod -R go-rwx HOME)"
        ],
    ),
    "a profile that others may write": (
        opened("profiles/db/local-app.toml", 0o646),
        ["warning: home: files: profiles/db/local-app.toml is open to other users (next: chmod -R go-rwx HOME)"],
    ),
    "files of another user": (
        lambda home: os.chown(home / "profiles/db/local-app.toml", team.DAEMON, -1),
        [
            "warning: home: owner: profiles/db/local-app.toml belongs to another user"
            ' (next: sudo chown -R "$(id -u)" HOME)'
        ],
    ),
    "settings that are no TOML": (
        text("config.toml", "[limits\n"),
        [
            "broken: home: config.toml: HOME/config.toml cannot be used: it is no valid TOML:"
            f" expected ']' at the end of a table declaration (at line 1, column 8) {EDIT}config.toml)"
        ],
    ),
    "an unknown setting": (
        text("config.toml", "[limits]\ncalls_per_minuet = 3\n"),
        [
            "broken: home: config.toml: HOME/config.toml cannot be used: the key limits.calls_per_minuet is unknown"
            f" (did you mean limits.calls_per_minute?) {EDIT}config.toml)"
        ],
    ),
    "a setting out of its range": (
        text("config.toml", "[oauth]\nport = 70000\n"),
        [
            "broken: home: config.toml: HOME/config.toml cannot be used: the value of oauth.port must be a whole number"
            f" from 1 to 65535 {EDIT}config.toml)"
        ],
    ),
    "leftovers of writes": (
        both(old("writes/0123456789abcdef"), old(".0123.new"), text(".4567.new", "")),
        [
            "warning: home: leftovers: 1 write of a file was cut off (next: look for names that begin with .helm-write-"
            " beside the files; the next write there puts it right)",
            "warning: home: leftovers: .0123.new was left by a helm that was killed (next: rm HOME/.0123.new)",
        ],
    ),
    "more leftovers of writes": (
        both(*map(old, ("writes/a", "writes/b", ".a.new", "profiles/.b.new"))),
        [
            "warning: home: leftovers: 2 writes of a file were cut off (next: look for names that begin with"
            " .helm-write- beside the files; the next write there puts it right)",
            "warning: home: leftovers: .a.new, profiles/.b.new were left by a helm that was killed"
            " (next: rm HOME/.a.new HOME/profiles/.b.new)",
        ],
    ),
    "no state at all": (
        text("state.db", ""),
        [
            f"warning: profiles: {group}/{name}: the secret of {name} is not in this home yet"
            f" (next: helm {group} edit {name} --ask-token)"
            for group, name in (("service", "s"), ("mcp", "m"))
        ],
    ),
    "a state that is none": (
        text("state.db", b"garbage " * 1000),
        [
            f"broken: state: state.db: HOME/state.db is damaged (file is not a database): {AGAIN} {ASIDE}",
            *UNREAD,
        ],
    ),
    "a state of a newer helm": (
        sql("PRAGMA user_version = 99"),
        [
            "broken: state: state.db: HOME/state.db was written by a newer helm (form 99)"
            " (next: pip install --upgrade helm-cli)",
            *UNREAD,
        ],
    ),
    "a database that is not helm's": (
        sql("PRAGMA user_version = 0"),
        [f"broken: state: state.db: HOME/state.db is a database that helm did not make: {AGAIN} {ASIDE}", *UNREAD],
    ),
    "a folder in the state's place": (
        both(without("state.db"), lambda home: (home / "state.db").mkdir(mode=0o700)),
        [f"broken: state: state.db: HOME/state.db is not a regular file: {AGAIN} {ASIDE}", *UNREAD],
    ),
    "a FIFO in the state's place": (
        both(without("state.db"), lambda home: os.mkfifo(home / "state.db", 0o600)),
        [f"broken: state: state.db: HOME/state.db is not a regular file: {AGAIN} {ASIDE}", *UNREAD],
    ),
    "a table that is gone": (
        sql("DROP TABLE sent"),
        [f"broken: state: state.db: HOME/state.db is damaged (the table sent is missing): {AGAIN} {ASIDE}", *UNREAD],
    ),
    "a state that forgot whose it is": (
        sql("DELETE FROM home"),
        [f"broken: state: state.db: state.db no longer says which home it is of: {AGAIN} {ASIDE}", *UNREAD],
    ),
    "no secrets at all": (
        without("credentials.json"),
        [
            f"warning: profiles: {group}/{name}: the secret of {name} is gone from credentials.json"
            f" (next: helm {group} edit {name} --ask-token)"
            for group, name in (("service", "s"), ("mcp", "m"))
        ],
    ),
    "secrets that are none": (
        text("credentials.json", "{"),
        [
            "broken: secrets: credentials.json: HOME/credentials.json is damaged (it is not the JSON object that helm"
            " writes), so no secret is read from it or written to it"
            " (next: move it away and enter the secrets again)",
            *PARTNERS,
        ],
    ),
    "a link in the place of the secrets": (
        both(without("credentials.json"), lambda home: (home / "credentials.json").symlink_to("state.db")),
        [
            "broken: secrets: credentials.json: HOME/credentials.json is a symbolic link, so no secret is read from it"
            " or written to it (next: move it away and enter the secrets again)",
            *PARTNERS,
        ],
    ),
    "secrets open to others": (
        opened("credentials.json"),
        [
            "warning: secrets: credentials.json: HOME/credentials.json is open to other users (mode 0644)"
            " (next: chmod 600 HOME/credentials.json)",
            *(
                f"warning: profiles: {name}: not tried, for its secret is in credentials.json, which is open to other"
                " users (next: see credentials.json above)"
                for name in ("service/s", "mcp/m")
            ),
        ],
    ),
    "a secret whose profile is gone": (
        without("profiles/service/s.toml"),
        [
            "warning: secrets: credentials.json: service/s/token is the secret of a profile that does not exist"
            " (next: take the line of service/s/token out of HOME/credentials.json)"
        ],
    ),
    "a secret of another home": (
        of_another_home,
        [
            "warning: profiles: service/s: what credentials.json has as the secret of s was entered in another"
            " home of helm's (next: helm service edit s --ask-token)"
        ],
    ),
    "a profile that is no TOML": (
        text("profiles/service/s.toml", "base_url = \n"),
        [
            "broken: profiles: service/s: HOME/profiles/service/s.toml cannot be used: it is no valid TOML:"
            f" invalid value (at line 1, column 12) {EDIT}profiles/service/s.toml)"
        ],
    ),
    "a profile with another target": (
        text("profiles/service/s.toml", 'base_url = "http://127.0.0.1:2"\ncredential = "file"\n'),
        ["warning: profiles: service/s: the target of s changed (next: helm service edit s --ask-token)"],
    ),
    "a profile that is a folder": (
        both(without("profiles/service/s.toml"), lambda home: (home / "profiles/service/s.toml").mkdir(mode=0o700)),
        [
            f"broken: profiles: service/s: HOME/profiles/service/s.toml is not a regular file {EDIT}"
            "profiles/service/s.toml)"
        ],
    ),
    "no folder of profiles": (
        both(lambda home: shutil.rmtree(home / "profiles/mcp"), text("profiles/mcp", "")),
        [
            "broken: profiles: profiles: HOME/profiles/mcp cannot be used: a file stands where a folder should be"
            " (next: move it away or name another home in HELM_CLI_HOME)"
        ],
    ),
    "a file as home": (
        another_file,
        ["broken: home: folder: HOME is not a folder (next: mv HOME HOME.moved)"],
    ),
    "a link to nowhere as home": (
        dangling,
        ["broken: home: folder: HOME is a link that leads nowhere (next: rm HOME)"],
    ),
}

# Beside it, what is the agent's; the checks of that stand above the broker.
OF_AGENT: Final[dict[str, tuple[Act, list[str]]]] = {
    "the socket of an agent that was killed": (
        socket_at,
        [
            "warning: agent: agent: none runs; the socket of one that was killed is left, which the next one takes away"
            " (next: helm agent start)"
        ],
    ),
    "a socket that is open to others": (
        lambda home: socket_at(home, 0o755),
        [
            "warning: home: files: run is open to other users (next: chmod -R go-rwx HOME)",
            "warning: agent: agent: what stands at HOME/run/agent.sock is not yours alone, so no agent is used"
            " (next: ls -ld HOME/run HOME/run/agent.sock)",
        ],
    ),
}
