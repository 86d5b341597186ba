"""`helm db shell`: statements typed one after another, read-only until the person turns writes on."""

import os
from collections.abc import Callable
from typing import Final

from helm_cli.broker import explorer, statements
from helm_cli.broker.explorer import Desk, Writes
from helm_cli.cli.explore import EXPLORER, desk
from helm_cli.cli.here import Here, answered, need_person, note, tell
from helm_cli.cli.writing import decide
from helm_cli.grammar import sql as grammar
from helm_cli.model.envelope import OBJECT, ROWS, Envelope, exit_status, failure
from helm_cli.model.errors import HelmError
from helm_cli.model.jsontext import Json
from helm_cli.model.profile import Engine
from helm_cli.store import shell_history
from helm_cli.view import question, result
from helm_cli.view.completion import Names, Table

HELP: Final = """\
SELECT …;      run a statement; it may take several lines, and ends with ;
\\d             list the tables and views; \\dt too
\\d TABLE       describe a table
\\o FORMAT      show results as auto, json, pretty, data, table, csv, tsv or ndjson
\\w             turn writes on, or off again
\\q             leave, also on a line below an unfinished statement (Ctrl-D too); Ctrl-C drops the line
Each statement has a connection and a transaction of its own. With writes on, each write is still asked about.
A line that begins with a space is not kept in the history, nor is one that may hold a secret.
"""
TURN_ON: Final = "Turn on writes"
# What is typed without a backslash elsewhere -> what it is here.
_BARE: Final = {"help": r"\?", "exit": r"\q", "quit": r"\q"}
# How a statement begins that may write. Another first word is more likely a slip.
_BEGINNINGS: Final = frozenset(
    (
        *grammar.READS, "ALTER", "ANALYZE", "ATTACH", "CALL", "COMMENT", "COPY", "CREATE", "DELETE", "DO", "DROP",
        "GRANT", "INSERT", "LOAD", "LOCK", "MERGE", "OPTIMIZE", "REFRESH", "REINDEX", "RENAME", "REPAIR", "REPLACE",
        "REVOKE", "SET", "TRUNCATE", "UPDATE", "VACUUM",
    )
)  # fmt: skip
# Rows of the terminal that the prompt and the count take.
AROUND: Final = 2


def run(place: Here, name: str) -> int:
    """Sit a person down in front of a database until they leave; the exit status."""
    need_person(place, EXPLORER)
    Shell(place, desk(place, name, "shell")).run()
    return 0


class Shell:
    """One sitting: how results are shown, whether writes are on, and what there is to complete."""

    def __init__(self, place: Here, at: Desk) -> None:
        self.place = place
        self.desk = at
        profile = explorer.profile(place.stores, at)
        self.engine: Engine = profile.engine
        self.target = profile.target_digest()
        self.format = "auto"
        self.writes: Writes | None = None
        self.tables = explorer.names(place.stores, at)

    def run(self) -> None:
        """Take lines until the person leaves; a failure is told in one line, and the shell goes on."""
        # The database has answered: only now is an editor worth its loading.
        from helm_cli.view import shell as view

        stores = self.place.stores
        kept = view.Kept(shell_history.load(stores.home), shell_history.may_keep, self._keep)
        note(self.place.streams, rf"{self.desk.profile} is {self.engine}, read-only; \? for help, \q to leave")
        with view.line(kept, self._names, self._complete) as line:
            going = True
            while going:
                self._notice_changes()
                try:
                    text = line.ask(self._prompt(), alarming=self.writes is not None)
                except KeyboardInterrupt:
                    continue
                except EOFError:
                    return
                going = self._take(text.strip())

    def _take(self, text: str) -> bool:
        try:
            if _last_line(text) == r"\q":
                return False
            text = _BARE.get(text.rstrip("; ").lower(), text)
            if text.startswith("\\"):
                return self._meta(text)
            for statement in statements.split(text, self.engine).statements:
                if not self._statement(statement):
                    break
        except HelmError as error:
            tell(self.place.streams, error.message)
        except KeyboardInterrupt:
            tell(self.place.streams, "interrupted")
        return True

    def _meta(self, text: str) -> bool:
        word, _, rest = text.rstrip(";").partition(" ")
        rest = rest.strip()
        does: dict[str, Callable[[str], None]] = {
            "\\d": self._describe,
            "\\dt": self._describe,
            "\\l": self._databases,
            "\\o": self._show_as,
            "\\w": self._toggle,
            "\\?": lambda _: self.place.streams.write(HELP),
        }
        if word == "\\q":
            return False
        if word not in does:
            raise HelmError("usage", rf"there is no {word}; \? shows what there is")
        does[word](rest)
        return True

    def _statement(self, sql: str) -> bool:
        """Run one statement; False where those after it must not run."""
        hint = grammar.writes(sql, self.engine)
        if hint and self.writes is not None:
            envelope, shape = self._write(sql), OBJECT
        else:
            envelope, shape = explorer.read(self.place.stores, self.desk, sql), ROWS
        self._show(envelope, shape)
        if envelope["ok"] is True:
            return True
        if hint and self.writes is None and self._refused(envelope, sql):
            tell(self.place.streams, r"writes are off; \w turns them on")
        return False

    def _refused(self, envelope: Envelope, sql: str) -> bool:
        """Whether it failed for what it would write: whoever mistyped a word shall not turn writes on for it."""
        error = envelope["error"]
        refused = isinstance(error, dict) and error["code"] == "refused"
        return refused and grammar.first_keyword(sql, self.engine) in _BEGINNINGS

    def _write(self, sql: str) -> Envelope:
        stores = self.place.stores
        asked = explorer.ask(stores, self.desk, sql, self.writes)
        try:
            answer = decide(self.place, asked.plan, asked.expires)
        except HelmError as error:
            explorer.decline(stores, self.desk, sql, asked)
            return failure(error)
        if answer == "declined":
            explorer.decline(stores, self.desk, sql, asked)
            return failure(HelmError("declined", "declined; nothing was sent"))
        if answer == "expired":
            return failure(HelmError("confirmation_required", "the confirmation expired; type the statement again"))
        told = "interrupted; it is unknown whether the write was applied: look before you repeat it"
        try:
            envelope = explorer.write(stores, self.desk, sql, self.writes, asked.token)
        except KeyboardInterrupt:
            return failure(HelmError("timeout", told, {"applied": "unknown"}))
        except SystemExit:
            tell(self.place.streams, told)
            raise
        self._learn()
        return envelope

    def _toggle(self, _: str) -> None:
        if self.writes is not None:
            self.writes = None
            tell(self.place.streams, f"writes to {self.desk.profile} are off")
            return
        turned = explorer.turned_on(self.place.stores, self.desk)
        lines = [
            f"  profile   db/{self.desk.profile}",
            f"  engine    {self.engine}",
            r"  until     you leave this shell, the profile changes, or you type \w again",
            "  asked     each statement that writes is still shown and asked about",
        ]
        expires = self.place.stores.clock() + 300
        answer = question.ask(TURN_ON, lines, "Turn on", expires)
        if answer != "expired":
            answered(self.place)
        if answer != "confirmed":
            why = f"{question.HASTY}, so " if answer == "hasty" else ""
            raise HelmError("declined", f"{why}writes to {self.desk.profile} stay off")
        self.writes = turned
        self._notice_changes()
        if self.writes is not None:
            tell(self.place.streams, rf"writes to {self.desk.profile} are on; \w turns them off")

    def _notice_changes(self) -> None:
        """What a change of the profile brings: writes are off, and there is something else to complete."""
        stores = self.place.stores
        if self.writes is not None and not explorer.still_on(stores, self.desk, self.writes):
            self.writes = None
            tell(self.place.streams, f"the profile {self.desk.profile} changed: writes are off")
        try:
            profile = explorer.profile(stores, self.desk)
        except HelmError:
            return
        if profile.target_digest() != self.target:
            self.engine, self.target = profile.engine, profile.target_digest()
            self._learn()

    def _describe(self, table: str) -> None:
        stores = self.place.stores
        envelope = explorer.describe(stores, self.desk, table) if table else explorer.tables(stores, self.desk)
        data = envelope["data"]
        if table and isinstance(data, dict) and not data["rows"]:
            raise HelmError("query_failed", rf"there is no table {table}; \d lists them")
        if table and self.format in ("auto", "table"):
            envelope = _without_nulls(envelope)
        self._show(envelope, ROWS)

    def _databases(self, _: str) -> None:
        note(self.place.streams, f"{self.desk.profile} is one database; helm db list shows the others")

    def _show_as(self, format: str) -> None:
        if format:
            result.check_format(format, ROWS)
            self.format = format
        note(self.place.streams, f"results are shown as {self.format}")

    def _show(self, envelope: Envelope, shape: str) -> None:
        error = envelope["error"]
        if exit_status(envelope) and isinstance(error, dict):
            return tell(self.place.streams, str(error["message"]))
        streams = self.place.streams
        text = result.render(envelope, shape, self.format, streams)
        if streams.out_terminal and text.count("\n") > _height() - AROUND:
            from helm_cli.view.leafing import leaf

            # On the whole screen there are no colours, and the last line stays when it closes.
            lines = result.render(envelope, shape, self.format, streams._replace(color=False)).splitlines()
            leaf(lines)
            text = f"{lines[-1]}\n" if self.format in ("auto", "table") else f"{len(lines)} lines\n"
        streams.write(text)

    def _learn(self) -> None:
        """What there is to complete after a change; where that cannot be asked, what was known stays."""
        try:
            self.tables = explorer.names(self.place.stores, self.desk)
        except HelmError:
            return

    def _names(self) -> Names:
        return Names(
            [Table(*table) for table in self.tables],
            "`" if self.engine == "mysql" else '"',
            self.engine == "postgres",
            [format for format in result.FORMATS if format != "text"],
        )

    def _complete(self, text: str) -> bool:
        """Whether what was typed is to be taken when Enter is pressed."""
        text = text.strip()
        if not text or text.startswith("\\") or _last_line(text) == r"\q" or text.lower() in _BARE:
            return True
        try:
            return not statements.split(text, self.engine).open
        except HelmError:
            return True  # to be told why

    def _keep(self, text: str) -> None:
        try:
            shell_history.keep(self.place.stores.home, text)
        except HelmError as error:
            tell(self.place.streams, error.message)

    def _prompt(self) -> str:
        return f"{self.desk.profile} (writes on)" if self.writes is not None else self.desk.profile


def _without_nulls(envelope: Envelope) -> Envelope:
    """The columns of a table, in which no key and no default are nothing to people."""
    data = envelope["data"]
    if not isinstance(data, dict) or not isinstance(data["rows"], list):
        return envelope
    rows: list[Json] = [
        ["" if value is None else value for value in row] for row in data["rows"] if isinstance(row, list)
    ]
    return {**envelope, "data": {**data, "rows": rows}}


def _last_line(text: str) -> str:
    return text.rpartition("\n")[2].strip().rstrip(";")


def _height() -> int:
    try:
        return os.get_terminal_size(1).lines
    except OSError:
        return 24
