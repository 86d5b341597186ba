"""A program that asks as helm does, and tells the answer in a file of its own: what the dialog's tests run."""

import json
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from helm_cli.view.lines import line
from helm_cli.view.question import ask
from helm_cli.view.streams import Streams, person_present


def main() -> None:
    """`asks.py ANSWERS {"title", "lines", "verb", …}`: appends each answer, or "absent".

    Also "summary", "seconds" until it expires, how many "times", whether to "trap" SIGTERM, and whether the lines
    are "styled", each of them as a write.
    """
    answers, told = Path(sys.argv[1]), json.loads(sys.argv[2])

    def tell(answer: str) -> None:
        with answers.open("a") as file:
            file.write(answer + "\n")

    def handled(number: int, frame: FrameType | None) -> None:
        tell("handled")

    if told.get("trap"):
        signal.signal(signal.SIGTERM, handled)
    for _ in range(told.get("times", 1)):
        if not person_present(Streams.here()):
            tell("absent")
            continue
        expires = time.time() + told["seconds"] if "seconds" in told else None
        lines = [line((text, "write")) for text in told["lines"]] if told.get("styled") else told["lines"]
        tell(ask(told["title"], lines, told["verb"], expires, told.get("summary", ())))


if __name__ == "__main__":
    main()
