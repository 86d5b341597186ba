"""How long a service asks helm to wait, as its Retry-After says."""

import math
import re
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

_SECONDS: Final = re.compile(r"[0-9]{1,9}")


def after(headers: Mapping[str, str]) -> int | None:
    """The whole seconds from now that Retry-After says, as a number or a date (RFC 9110, 10.2.3); None for none."""
    value = headers.get("retry-after", "").strip()
    if _SECONDS.fullmatch(value):
        return int(value)
    try:
        moment = parsedate_to_datetime(value)
        # A date in -0000 says that its zone is not known; HTTP knows only one.
        seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return max(0, math.ceil(seconds))
