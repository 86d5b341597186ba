"""A session with a real GNOME Keyring: its own bus (dbus-run-session) and HOME, and nothing left at the end."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import secretstorage
from jeepney import DBusAddress, new_method_call  # type: ignore[import-untyped]  # it ships no types
from jeepney.io.blocking import open_dbus_connection  # type: ignore[import-untyped]  # likewise

PASSWORD: Final = "the password of the login keyring"
STARTS_WITHIN: Final = 10.0
SERVICE: Final = "org.freedesktop.secrets"
BUS: Final = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")

# It ends when its standard input does, and so also when whoever runs the tests is killed.
BARE: Final = 'echo "$DBUS_SESSION_BUS_ADDRESS" "$$"; read -r _ || true'
UNLOCKED: Final = """
printf %s "$1" | gnome-keyring-daemon --foreground --unlock --components=secrets >/dev/null &
daemon=$!
echo "$DBUS_SESSION_BUS_ADDRESS" "$daemon"
read -r _ || true
kill -KILL "$daemon"
"""


class KeyringSession(NamedTuple):
    """`address` of the session bus; the process `daemon` that keeps the secrets."""

    address: str
    daemon: int

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to find this session."""
        return {"DBUS_SESSION_BUS_ADDRESS": self.address}

    def secrets(self, service: str = "helm") -> dict[str, str]:
        """What the Secret Service itself holds for a service: account -> secret, read without helm's code."""
        with closing(open_dbus_connection(self.address)) as connection:
            return _secrets(secretstorage.search_items(connection, {"service": service}))

    def secrets_of(self, collection: str, service: str = "helm") -> dict[str, str]:
        """As `secrets`, of the one collection at this path."""
        with closing(open_dbus_connection(self.address)) as connection:
            return _secrets(secretstorage.Collection(connection, collection).search_items({"service": service}))

    def lock(self) -> None:
        with closing(open_dbus_connection(self.address)) as connection:
            collection = secretstorage.Collection(connection)
            collection.lock()
            assert collection.is_locked()


def _secrets(found: Iterator[secretstorage.Item]) -> dict[str, str]:
    items = list(found)
    secrets = {item.get_attributes()["username"]: item.get_secret().decode() for item in items}
    assert len(secrets) == len(items), "an account has two items"
    return secrets


@contextmanager
def keyring_session(home: Path) -> Iterator[KeyringSession]:
    """An unlocked keyring in `home`, which must be fresh."""
    with _session(home, [], UNLOCKED) as (address, daemon):
        _wait_for_the_service(address)
        yield KeyringSession(address, daemon)


@contextmanager
def bare_session(home: Path, starts: str | None) -> Iterator[str]:
    """The address of a bus without a Secret Service; `starts` is the command that it runs when one is asked for."""
    services = home / "services"
    services.mkdir()
    if starts:
        (services / f"{SERVICE}.service").write_text(f"[D-BUS Service]\nName={SERVICE}\nExec={starts}\n")
    settings = home / "bus.conf"
    settings.write_text(
        f"<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><servicedir>{services}</servicedir>"
        '<policy context="default"><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/></policy>'
        "</busconfig>"
    )
    with _session(home, [f"--config-file={settings}"], BARE) as (address, _):
        yield address


@contextmanager
def _session(home: Path, options: list[str], script: str) -> Iterator[tuple[str, int]]:
    process = subprocess.Popen(
        ["dbus-run-session", *options, "--", "sh", "-c", script, "session", PASSWORD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"},
        text=True,
    )
    with process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        address, _, daemon = process.stdout.readline().strip().rpartition(" ")
        assert address, process.stderr.read()
        try:
            yield address, int(daemon)
        finally:
            process.stdin.close()
            process.stderr.read()


def _wait_for_the_service(address: str) -> None:
    """Asking the service itself would make the bus start a second one."""
    give_up = time.monotonic() + STARTS_WITHIN
    with closing(open_dbus_connection(address)) as connection:
        question = new_method_call(BUS, "NameHasOwner", "s", (SERVICE,))
        while not connection.send_and_get_reply(question).body[0]:
            assert time.monotonic() < give_up, "gnome-keyring-daemon has not started"
            time.sleep(0.005)
