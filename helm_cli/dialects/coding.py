"""Whether the bytes of a file are UTF-8 text, and where and why they are not."""

from typing import Final

_UTF32: Final = "the file is UTF-32; save it as UTF-8"
_MARKS: Final = (
    # Its mark begins with that of UTF-16.
    (b"\xff\xfe\x00\x00", _UTF32),
    (b"\x00\x00\xfe\xff", _UTF32),
    (b"\xef\xbb\xbf", "the file begins with a byte order mark; save it as UTF-8 without one"),
    (b"\xff\xfe", "the file is UTF-16; save it as UTF-8"),
    (b"\xfe\xff", "the file is UTF-16; save it as UTF-8"),
)


def fault(data: bytes) -> tuple[int, int, str] | None:
    """The line and column (from 1, in code points) at which these bytes are no UTF-8 without a mark, and a sentence."""
    for mark, message in _MARKS:
        if data.startswith(mark):
            return 1, 1, message
    if b"\x00" in data[:4]:
        # Of the four bytes of a character that every manifest begins with, three are zeros.
        return 1, 1, _UTF32 if data[:4].count(0) == 3 else "the file is UTF-16; save it as UTF-8"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        return (
            before.count("\n") + 1,
            len(before) - before.rfind("\n"),
            "this byte is not UTF-8; save the file as UTF-8",
        )
    return None
