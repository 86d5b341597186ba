"""How a test says that something fails with one exact error, which betrays no secret however it is looked at."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from helm_cli.model.errors import HelmError


@contextmanager
def failing(code: str, message: str, *secrets: str) -> Iterator[None]:
    """The block raises HelmError(code, message); no secret stands in it, in its causes, or in the traceback."""
    with pytest.raises(HelmError) as caught:
        yield
    assert (caught.value.code, caught.value.message) == (code, message)
    told = ["".join(traceback.format_exception(caught.value))]
    error: BaseException | None = caught.value
    while error is not None:
        told += [str(error), repr(error), repr(error.args), repr(vars(error))]
        error = error.__cause__ or error.__context__
    for secret in secrets:
        assert not any(secret in text for text in told)
