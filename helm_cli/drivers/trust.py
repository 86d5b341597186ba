"""Which hosts are this machine itself, and which authorities it trusts to vouch for another."""

import os
import re
import stat
from contextlib import suppress
from typing import Final

from helm_cli.grammar.url import LOOPBACK
from helm_cli.model.errors import HelmError

_LOOPBACK: Final = re.compile(r"127(\.[0-9]{1,3}){3}|::1")

# Named here because a library's own notion is that of the machine it was built on, or the environment's.
_AUTHORITIES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


# The authorities of all the world are a quarter of a MiB.
_MOST_BYTES: Final = 4 * 1024 * 1024


def check(name: str, path: str) -> None:
    """That a library may open the file of authorities of the profile `name`: it would wait at a FIFO, beyond any time.

    Libraries read such a file deaf to all else. HelmError "unavailable" where it is no regular file, or cannot be read
    to its end; of one that is not there, the library itself tells.
    """
    with suppress(FileNotFoundError):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise _unusable(name, "cannot be read") from None
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise _unusable(name, "is not a regular file")
            if _endless(descriptor):
                raise _unusable(name, "is over 4 MiB, which no file of certificates is")
        except OSError:
            raise _unusable(name, "cannot be read") from None
        finally:
            os.close(descriptor)


def loopback(host: str) -> bool:
    """Whether what is sent to this host stays on this machine, by its name alone."""
    return host.lower() in LOOPBACK or bool(_LOOPBACK.fullmatch(host))


def authorities() -> str | None:
    """The file of PEM certificates that this machine trusts, None where it has none."""
    return next(filter(os.path.isfile, _AUTHORITIES), None)


def _endless(descriptor: int) -> bool:
    """Whether there is more in it than there may be; what the size says is not asked, for a device has none."""
    left = _MOST_BYTES
    while left >= 0 and (piece := os.read(descriptor, 65536)):
        left -= len(piece)
    return left < 0


def _unusable(name: str, what: str) -> HelmError:
    return HelmError("unavailable", f"the CA file of the profile {name} {what}; name another with --tls-ca")
