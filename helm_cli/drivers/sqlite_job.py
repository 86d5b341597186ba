"""What passes between helm and the process that runs its SQLite statements: jobs one way, answers the other."""

import json
import os
from typing import Any, Final, Literal, NamedTuple, cast

from helm_cli.drivers import Limits
from helm_cli.model.extension import Effect
from helm_cli.model.jsontext import Json, Scalar, dump

What = Literal["run", "prepare", "mend"]

# Said before COMMIT, alone; whoever dies after it leaves an open end.
COMMITTING: Final = b"C"
ANSWER: Final = b"A"
_HEAD: Final = 4


class Job(NamedTuple):
    """One statement for one file. `name` is the profile's; `seconds` are what is left of `limits.seconds`.

    `arguments` has the name of each of the `values`.

    "mend" takes back, as any program that opened the file would, what a killed job of this effect left beside it.
    """

    what: What
    name: str
    path: str
    sql: str
    values: list[Scalar]
    effect: Effect
    limits: Limits
    seconds: float
    arguments: list[str]


def packed(value: Json) -> bytes:
    """The bytes of a message: its length, then JSON."""
    text = dump(value).encode("utf-8", "surrogatepass")
    return len(text).to_bytes(_HEAD, "big") + text


def missing(message: bytes | bytearray) -> int:
    """How many bytes of a message that begins so are still to come, at least."""
    if len(message) < _HEAD:
        return _HEAD - len(message)
    return _HEAD + int.from_bytes(message[:_HEAD], "big") - len(message)


def unpacked(message: bytes | bytearray) -> Json:
    value: Json = json.loads(message[_HEAD:].decode("utf-8", "surrogatepass"))
    return value


def send(descriptor: int, data: bytes) -> None:
    """Writes it whole. BrokenPipeError when nobody reads any more."""
    while data:
        data = data[os.write(descriptor, data) :]


def received(descriptor: int) -> Job | None:
    """The next job, waited for without end; None when helm is gone."""
    message = bytearray()
    while (more := missing(message)) > 0:
        part = os.read(descriptor, more)
        if not part:
            return None
        message += part
    job = Job(*cast(Any, unpacked(message)))
    return job._replace(limits=Limits(*job.limits))


def fields(job: Job) -> Json:
    """The job as `received` takes it apart again."""
    return cast(Json, [*job])
