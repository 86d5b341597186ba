"""How the body of an answer is decoded without ever holding more of it than is allowed."""

import zlib
from collections.abc import Iterable
from typing import Final

# RFC 9110, 8.4.1; the window bits that zlib knows each by.
_WINDOW: Final = {"gzip": 31, "x-gzip": 31, "deflate": 15}


class Over(Exception):
    """The decoded body is larger than allowed."""


class Short(Exception):
    """The compressed body ended before its own end."""


class Unreadable(Exception):
    """The body is coded in a way that helm does not read, or not coded as it says; its text is a clause on why."""


def decoded(chunks: Iterable[bytes], coding: str, most: int) -> bytes:
    """The bytes of a body of at most `most` decoded bytes, read in full; reading stops where there are more.

    `coding` is the value of Content-Encoding, "" for none: gzip, deflate or identity, and one of them at the most.
    Raises Over, Short and Unreadable, and whatever reading `chunks` raises.
    """
    codings = [name for part in coding.lower().split(",") if (name := part.strip()) not in ("", "identity")]
    if not codings:
        return _plain(chunks, most)
    if len(codings) > 1 or codings[0] not in _WINDOW:
        if not any(chunks):
            return b""
        raise Unreadable("is compressed in a way that helm did not ask for")
    try:
        return _inflated(chunks, _WINDOW[codings[0]], most)
    except zlib.error:
        raise Unreadable(f"is not the {codings[0]} that it says it is") from None


def _plain(chunks: Iterable[bytes], most: int) -> bytes:
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > most:
            raise Over
    return bytes(body)


def _inflated(chunks: Iterable[bytes], window: int, most: int) -> bytes:
    inflater = zlib.decompressobj(window)
    body = bytearray()
    begun = False
    for chunk in chunks:
        rest = chunk
        while rest:
            begun = True
            if inflater.eof:
                # A gzip body may be several, one after the other (RFC 1952, 2.2).
                inflater = zlib.decompressobj(window)
            # zlib takes 0 as no limit at all; this is 1 at the least.
            body += inflater.decompress(rest, most + 1 - len(body))
            if len(body) > most:
                raise Over
            rest = inflater.unconsumed_tail or inflater.unused_data
    if begun and not inflater.eof:
        raise Short
    return bytes(body)
