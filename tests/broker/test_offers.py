"""As what each approved operation is offered to a program."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helm_cli.broker import approve, bindings, offers, review
from helm_cli.broker.offers import Offer
from helm_cli.broker.stores import Stores
from helm_cli.broker.workspace import Workspace
from helm_cli.model.plugin import Bound
from helm_cli.model.review import Review
from helm_cli.store import tools
from tests.broker.folders import write
from tests.broker.office import office
from tests.rig.team import ID, PLUGIN

SCALAR = {"type": ["string", "number", "boolean", "null"], "maxLength": 4096}
VALUE = {"type": ["string", "number", "boolean"], "maxLength": 4096}


@pytest.fixture
def stores(home: Path) -> Iterator[Stores]:
    opened = Stores(home)
    yield opened
    opened.close()


@pytest.fixture
def here(tmp_path: Path) -> Workspace:
    (tmp_path / "here").mkdir()
    return Workspace(str(tmp_path / "here"), "the current folder")


def approved(stores: Stores, here: Workspace, folder: Path, *connections: dict[str, Any], **members: Any) -> None:
    document = {"id": folder.name, "permissions": {"write": True}, "connections": list(connections), **members}
    write(folder, document)
    found = review.review(stores, here, str(folder))
    assert isinstance(found, Review), found
    approve.by_person(stores, found)


def mcp(*operations: str, id: str = "gh", writes: tuple[str, ...] = ()) -> dict[str, Any]:
    listed = {"operations": list(operations)} if operations else {}
    return {"id": id, "kind": "mcp", "server": "github", **listed, **({"writes": list(writes)} if writes else {})}


def named(found: list[Offer]) -> list[tuple[str, str]]:
    return [(offer.name, offer.operation) for offer in found]


def test_each_kind_says_what_it_takes(stores: Stores, here: Workspace, tmp_path: Path) -> None:
    calls = {
        "issues": {"method": "GET", "path": "/repos/{owner}/issues", "query": {"per_page": "{limit}"}},
        "close": {"method": "PATCH", "path": "/issues/{number}", "body": {"state": "{state}"}, "write": True},
    }
    files = {"id": "sp", "kind": "files", "root": "project", "paths": ["**"], "operations": ["list", "read", "write"]}
    http = {"id": "web", "kind": "http", "service": "github", "calls": calls}
    approved(stores, here, tmp_path / "all", http, files, mcp("list_issues"))
    found = {offer.name: offer.schema for offer in offers.offers(stores, here)}
    assert list(found) == ["web_issues", "web_close", "sp_list", "sp_read", "sp_write", "gh_list_issues"]
    assert found["web_issues"] == {
        "type": "object",
        "properties": {"owner": VALUE, "limit": SCALAR},
        "required": ["owner"],
        "additionalProperties": False,
    }
    assert found["web_close"]["properties"] == {"number": VALUE, "state": SCALAR}
    text = {"type": "string"}
    project = {**text, "description": "the name of a registered project"}
    assert found["sp_list"] == {
        "type": "object",
        "properties": {"project": project},
        "required": ["project"],
        "additionalProperties": False,
    }
    assert found["sp_read"]["properties"] == {
        "project": project,
        "path": {**text, "description": "the path of a file, relative to the root"},
        "paths": {
            "type": "array",
            "items": text,
            "minItems": 1,
            "maxItems": 100,
            "description": "the paths of many files, in place of path",
        },
    }
    assert found["sp_write"]["required"] == ["project", "path", "text", "expected_sha256"]
    assert found["gh_list_issues"] == {"type": "object"}


def test_an_mcp_tool_is_offered_as_it_was_shown_at_its_approval(
    stores: Stores, here: Workspace, tmp_path: Path
) -> None:
    approved(stores, here, tmp_path / "git", mcp("list_issues"))
    schema = {"type": "object", "properties": {"owner": {"type": "string"}}}
    definition: Any = {"name": "list_issues", "description": "Lists them.", "inputSchema": schema}
    tools.pin(stores.db, here.path, "git", {"gh": {"list_issues": definition}}, ["gh"])
    (offer,) = offers.offers(stores, here)
    assert (offer.schema, offer.effect) == (schema, "read")
    assert offer.description.endswith(" of the mcp connection gh of git. Its server says: Lists them.")


def test_names_are_short_plain_and_unique(stores: Stores, here: Workspace, tmp_path: Path) -> None:
    long = "a" * 70
    approved(stores, here, tmp_path / "one", mcp("list.issues", "list_issues", long, "get"))
    approved(stores, here, tmp_path / "two", mcp("get", "other"))
    found = named(offers.offers(stores, here))
    assert found == [
        ("gh_list_issues_5f066ff3", "list.issues"),
        ("gh_list_issues_c263038f", "list_issues"),
        ("gh_" + "a" * 52 + "_73879dcb", long),
        ("gh_get_f0ea4341", "get"),
        ("gh_get_faf5f4f7", "get"),
        ("gh_other", "other"),
    ]


def test_no_name_can_be_taken_from_another_by_its_hash(stores: Stores, here: Workspace, tmp_path: Path) -> None:
    hashed = "get_f0ea4341"
    approved(stores, here, tmp_path / "one", mcp("get"))
    approved(stores, here, tmp_path / "two", mcp("get", hashed))
    found = named(offers.offers(stores, here))
    assert found[0][0].startswith("gh_get_f0ea4341")
    assert found == [("gh_get_f0ea43413", "get"), ("gh_get_faf5f4f7", "get"), (f"gh_{hashed}", hashed)]


@pytest.mark.parametrize(
    "schema", [{"type": "string"}, {"$ref": "https://evil.test/x"}, {"type": ["object"]}, {"properties": {}}]
)
def test_a_schema_of_no_object_is_not_passed_on(
    stores: Stores, here: Workspace, tmp_path: Path, schema: dict[str, Any]
) -> None:
    approved(stores, here, tmp_path / "git", mcp("list_issues"))
    definition: Any = {"name": "list_issues", "description": "d" * 3_000_000, "inputSchema": schema}
    tools.pin(stores.db, here.path, "git", {"gh": {"list_issues": definition}}, ["gh"])
    (offer,) = offers.offers(stores, here)
    assert offer.schema == {"type": "object"}
    assert offer.description.endswith(f" Its server says: {'d' * 1024}…")


def test_a_disabled_extension_offers_nothing(stores: Stores, here: Workspace, tmp_path: Path) -> None:
    from helm_cli.store import approvals

    approved(stores, here, tmp_path / "one", mcp("get"))
    approvals.set_enabled(stores.db, here.path, "one", False)
    assert offers.offers(stores, here) == []


def test_those_of_one_extension_alone(stores: Stores, here: Workspace, tmp_path: Path) -> None:
    for name in ("one", "two"):
        approved(stores, here, tmp_path / name, mcp("get"))
    assert [offer.extension for offer in offers.offers(stores, here)] == ["one", "two"]
    # Its names are unique among its own.
    assert named(offers.offers(stores, here, "two")) == [("gh_get", "get")]
    assert offers.offers(stores, here, "three") == []


def test_a_named_tool_is_offered_by_its_own_name_where_it_can_be_called(home: Path) -> None:
    to = [
        Bound("count_posts", "blog", "GET", "/count?of={blog}", None),
        Bound("send_post", "blog", "POST", "/posts", '{"t": "{title}"}'),
        Bound("send_letter", "blog", "POST", "/letters", '{"t": "{title}"}'),
    ]
    with office(home) as us:
        us.approve(tools=[*PLUGIN["tools"], {"name": "save", "kind": "http", "risk": "write"}])
        assert [offer.operation for offer in offers.offers(us.stores, us.here)] == ["list_posts", "save_post"]
        for one in (*to, Bound("save", "blog", "PUT", "/posts", None)):
            bindings.bind(us.stores, us.approval(), one)
        *_, count, save = offers.offers(us.stores, us.here)
    schema: Any = {"type": ["string", "number", "boolean", "null"], "maxLength": 262_144}
    assert count == Offer(
        name="count_posts",
        title="_tools count_posts",
        description=f"Reads by the tool count_posts of {ID} (Writes posts.). How many posts there are.",
        schema={"type": "object", "properties": {"blog": schema}, "required": [], "additionalProperties": False},
        effect="read",
        extension=ID,
        connection="_tools",
        operation="count_posts",
        risk="read",
    )
    told = f"Writes, once a person confirmed it, by the tool save of {ID} (Writes posts.)."
    assert (save.name, save.description, save.risk, save.schema["properties"]) == ("save", told, "write", {})
