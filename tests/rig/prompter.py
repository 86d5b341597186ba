"""The dialog of a desktop that asks for a keyring's password, played by a thread: mute, left open, closed, answered."""

import hmac
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from threading import Event, Thread
from typing import Any, Final, Literal

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from jeepney import (  # type: ignore[import-untyped]  # it ships no types
    DBusAddress,
    HeaderFields,
    Message,
    MessageType,
    message_bus,
    new_method_call,
    new_method_return,
)
from jeepney.io.blocking import DBusConnection, open_dbus_connection  # type: ignore[import-untyped]  # likewise

NAME: Final = "org.gnome.keyring.SystemPrompter"
CALLBACK: Final = "org.gnome.keyring.internal.Prompter.Callback"

# mute: no call is ever answered. open: the dialog stands there. closed: the person closes it. answered: types it.
Manner = Literal["mute", "open", "closed", "answered"]

# RFC 3526, group 5: the one of the exchange sx-aes-1 of GCR.
PRIME: Final = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F"
    "83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA237327FFFFFFFFFFFFFFFF",
    16,
)


class Prompter:
    """`asked` is set once the keyring wants a dialog."""

    def __init__(self, connection: DBusConnection, manner: Manner, password: str) -> None:
        self.asked = Event()
        self._connection = connection
        self._manner = manner
        self._password = password

    def serve(self) -> None:
        """Answers calls until the connection is closed."""
        try:
            while True:
                message = self._connection.receive()
                if message.header.message_type == MessageType.method_call:
                    self._called(message)
        except (OSError, ValueError):
            return

    def _called(self, message: Message) -> None:
        self.asked.set()
        if self._manner == "mute":
            return
        self._connection.send(new_method_return(message))
        if self._manner == "open":
            return
        keyring = message.header.fields[HeaderFields.sender]
        callback = DBusAddress(message.body[0], keyring, CALLBACK)
        match message.header.fields[HeaderFields.member]:
            case "BeginPrompting":
                self._ready(callback, "", "")
            case "PerformPrompt" if self._manner == "closed":
                self._ready(callback, "no", "")
            case "PerformPrompt":
                self._ready(callback, "yes", _exchange(message.body[3], self._password.encode()))
            case "StopPrompting":
                self._connection.send(new_method_call(callback, "PromptDone"))

    def _ready(self, callback: DBusAddress, reply: str, exchange: str) -> None:
        properties: dict[str, Any] = {}
        self._connection.send(new_method_call(callback, "PromptReady", "sa{sv}s", (reply, properties, exchange)))


@contextmanager
def prompter(address: str, manner: Manner, password: str = "") -> Iterator[Prompter]:
    """Plays the desktop's dialog on the session bus at `address`."""
    with closing(open_dbus_connection(address)) as connection:
        owned = connection.send_and_get_reply(message_bus.RequestName(NAME))
        assert owned.body == (1,), "another prompter runs on this bus"
        person = Prompter(connection, manner, password)
        thread = Thread(target=person.serve, daemon=True)
        thread.start()
        yield person
        connection.sock.shutdown(2)
        thread.join()


def _exchange(received: str, secret: bytes) -> str:
    """Our half of GCR's secret exchange sx-aes-1: Diffie-Hellman, HKDF-SHA256, AES-128-CBC."""
    public = re.search(r"^public=(\S+)$", received, re.MULTILINE)
    assert public, received
    private = int.from_bytes(os.urandom(128), "big")
    shared = pow(int.from_bytes(b64decode(public[1]), "big"), private, PRIME).to_bytes(192, "big")
    key = hmac.digest(hmac.digest(bytes(32), shared, sha256), b"\x01", sha256)[:16]
    vector = os.urandom(16)
    encryptor = Cipher(algorithms.AES(key), modes.CBC(vector)).encryptor()
    padding = 16 - len(secret) % 16
    sealed = encryptor.update(secret + bytes([padding]) * padding) + encryptor.finalize()
    ours = pow(2, private, PRIME).to_bytes(192, "big")
    lines = {"public": ours, "secret": sealed, "iv": vector}
    return "[sx-aes-1]\n" + "".join(f"{name}={b64encode(value).decode()}\n" for name, value in lines.items())
