"""Which hosts are this machine itself, and which authorities it trusts to vouch for another."""

import os
import re
from typing import Final

from helm_cli.grammar.url import LOOPBACK

_LOOPBACK: Final = re.compile(r"127(\.[0-9]{1,3}){3}|::1")

# Named here because a library's own notion is that of the machine it was built on, or the environment's.
_AUTHORITIES: Final = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def loopback(host: str) -> bool:
    """Whether what is sent to this host stays on this machine, by its name alone."""
    return host.lower() in LOOPBACK or bool(_LOOPBACK.fullmatch(host))


def authorities() -> str | None:
    """The file of PEM certificates that this machine trusts, None where it has none."""
    return next(filter(os.path.isfile, _AUTHORITIES), None)
