"""What the small records of the model say of themselves."""

import pytest

from helm_cli.model.command import Command
from helm_cli.model.health import Check, Status
from helm_cli.model.plugin import Setting


def test_a_command_is_called_by_its_last_word_and_the_root_by_the_programs() -> None:
    def command(*path: str) -> Command:
        return Command(path, "Does it.", (), (), (), (), ())

    assert (command("db", "add").name, command().name) == ("add", "helm")


@pytest.mark.parametrize(
    ("status", "well"), [("ok", True), ("warning", True), ("unreachable", False), ("broken", False)]
)
def test_a_warning_is_well_enough(status: Status, well: bool) -> None:
    assert Check("home", "folder", status, "it is so").well is well


@pytest.mark.parametrize(
    ("setting", "asks"),
    [
        (Setting("tone", "string", None, (), False), ()),
        (Setting("key", "secret", None, (), True), ("sensitive",)),
        (Setting("crm", "connection", "hubspot", ("a", "b"), True), ("provider hubspot", "scopes a b", "sensitive")),
    ],
)
def test_what_there_is_to_know_of_a_setting_beside_its_type(setting: Setting, asks: tuple[str, ...]) -> None:
    assert setting.asks() == asks
