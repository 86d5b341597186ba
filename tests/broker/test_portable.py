"""What goes to another machine: the same bytes for the same home, no secret, and read back with every fault told."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helm_cli.broker import content, portable, portable_reading, portable_taking, secrets
from helm_cli.broker import profiles as broker
from helm_cli.broker.portable import Entry, Extension, Portable
from helm_cli.broker.stores import Stores
from helm_cli.model.errors import HelmError
from helm_cli.model.profile import NAME, Database, Profile, Server, Service
from helm_cli.store import approvals, profiles
from helm_cli.store.groups import GROUPS

GITHUB_TOKEN: Final = "ghp_" + "a1" * 18
PART: Final = "a part with the shape of a token"
DIGEST: Final = "sha256:" + "0f" * 32
FILE = Database("local-app", "sqlite", path="/srv/app.db")
SHOP = Database("shop.eu", "postgres", host="db.test", port=5433, database="shop", user="me", tls="verify-full")
SOCKET = Database("socket", "mysql", socket="/run/mysqld.sock", database="shop", user="me")
GITHUB = Service("github", "https://api.github.com")
KEY = Service("key", "https://key.test/v2", header="X-Api-Key", format="raw")
OPEN = Service("open", "http://localhost:9090")
CAL = Service("cal", "https://cal.test", client_id="my-client", redirect_port=9000)
PUBLIC = Service("public", "https://cal.test", client_id="c")
FILES = Server("files", ("npx", "-y", 'a "b"\\', "\u001b[2J\n", "--key-file=/k"), token_env="TOKEN", start_seconds=60)
LINEAR = Server("linear", url="https://mcp.test/mcp")

ENTRIES: Final = (
    Entry(FILE, None), Entry(SHOP, "password"), Entry(SOCKET, None),
    Entry(CAL, "client-secret"), Entry(GITHUB, "token"), Entry(KEY, "token"), Entry(OPEN, None), Entry(PUBLIC, None),
    Entry(FILES, "token"), Entry(LINEAR, None),
)  # fmt: skip
SETTINGS: Final[dict[str, Any]] = {"limits": {"calls_per_minute": 30}, "drafts_dir": "~/drafts", "confirm": {}}
WHOLE: Final = f"""\
# What helm keeps in a home, without the secrets. On another machine: helm config import FILE
# A profile with `secret` is asked for it there; one with client_id signs in there: helm oauth connect NAME
version = 1

[settings]
drafts_dir = "~/drafts"

[settings.limits]
calls_per_minute = 30

[db.local-app]
engine = "sqlite"
path = "/srv/app.db"

[db."shop.eu"]
engine = "postgres"
host = "db.test"
port = 5433
database = "shop"
user = "me"
tls = "verify-full"
secret = "password"

[db.socket]
engine = "mysql"
socket = "/run/mysqld.sock"
database = "shop"
user = "me"

[service.cal]
base_url = "https://cal.test"
client_id = "my-client"
redirect_port = 9000
secret = "client-secret"

[service.github]
base_url = "https://api.github.com"
secret = "token"

[service.key]
base_url = "https://key.test/v2"
header = "X-Api-Key"
format = "raw"
secret = "token"

[service.open]
base_url = "http://localhost:9090"

[service.public]
base_url = "https://cal.test"
client_id = "c"

[mcp.files]
command = ["npx", "-y", "a \\"b\\"\\\\", "\\u001b[2J\\u000a", "--key-file=/k"]
token_env = "TOKEN"
start_seconds = 60
secret = "token"

[mcp.linear]
url = "https://mcp.test/mcp"

[[extensions]]
id = "me/blog"
digest = "{DIGEST}"
"""


@pytest.fixture
def stores(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    opened = Stores(home)
    yield opened
    opened.close()


def filled(stores: Stores) -> None:
    for entry in reversed(ENTRIES):
        assert profiles.create(stores.home, entry.profile._replace(credential="file" if entry.secret else None))
    (stores.home / "config.toml").write_text('drafts_dir = "~/drafts"\n[limits]\ncalls_per_minute = 30\n[confirm]\n')


def test_a_home_is_one_text_and_read_back_it_is_the_same(stores: Stores) -> None:
    filled(stores)
    found = portable.gathered(stores)
    assert found == Portable(ENTRIES, SETTINGS, ()) == portable.gathered(stores)
    told = (Extension("me/blog", DIGEST),)
    assert portable.render(found._replace(extensions=told)) == WHOLE
    said = {key: value for key, value in SETTINGS.items() if value}
    assert portable_reading.read(WHOLE) == (Portable(ENTRIES, said, told), [])


def test_an_empty_home_is_an_export_too(stores: Stores) -> None:
    text = portable.render(portable.gathered(stores))
    assert text == WHOLE.partition("\n\n")[0] + "\n"
    assert portable_reading.read(text) == (Portable((), {}, ()), [])


def test_what_is_approved_is_told_once(stores: Stores, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    found = content.read(str(tmp_path))
    for workspace in ("/b", "/a"):
        one = approvals.Approval(workspace, "blog", str(tmp_path), found.content.digest, True, 0.0, "pin")
        approvals.approve(stores.db, one, found.content, found.stamps)
    assert portable.gathered(stores).extensions == (Extension("blog", found.content.digest),)


def test_profiles_can_be_left_out(stores: Stores) -> None:
    filled(stores)
    without = [entry.id for entry in ENTRIES if entry.profile.name != "shop.eu"]
    assert portable.gathered(stores, without).entries == (ENTRIES[1],)
    with pytest.raises(HelmError) as raised:
        portable.gathered(stores, ["shop.eu"])
    assert (raised.value.code, raised.value.message) == (
        "usage",
        "there is no profile shop.eu; write it as GROUP/NAME, such as db/shop",
    )


@pytest.mark.parametrize(
    ("file", "text"), [("config.toml", "[limit]\n"), ("config.toml", "x"), ("profiles/db/local-app.toml", "path = 1\n")]
)
def test_a_broken_home_is_not_exported(stores: Stores, file: str, text: str) -> None:
    filled(stores)
    (stores.home / file).write_text(text)
    with pytest.raises(HelmError) as raised:
        portable.gathered(stores)
    assert raised.value.code == "state" and file in raised.value.message


@pytest.mark.parametrize(
    ("profile", "names"),
    [
        (Server("x", ("npx", "--api-key=canary-11aa")), ["--api-key"]),
        (Server("x", ("env", "TOKEN=canary-11aa", "npx")), ["TOKEN"]),
        (Server("x", url="https://mcp.test/mcp?key=canary&v=1"), ["key"]),
        (CAL._replace(authorize_url="https://a.test/a?token=canary", token_url="https://a.test/t"), ["token"]),
        (Server("x", url=f"https://mcp.test/{GITHUB_TOKEN}/mcp"), [f"{PART} of the URL"]),
        (Service("x", f"https://s.test/{GITHUB_TOKEN}"), [f"{PART} of base_url"]),
        (Service("x", "https://api.telegram.org/bot123456789:" + "AA" + "x9" * 16), [f"{PART} of base_url"]),
        (
            CAL._replace(authorize_url="https://a.test/a", token_url=f"https://a.test/{GITHUB_TOKEN}/t"),
            [f"{PART} of token_url"],
        ),
        (CAL._replace(client_id=GITHUB_TOKEN), ["client_id"]),
        (SHOP._replace(user=GITHUB_TOKEN, database="postgres://u:pass@h/d"), ["database", "user"]),
        (Database("x", "sqlite", path=f"/srv/{GITHUB_TOKEN}.db"), ["path"]),
        (FILES, []),
        (SHOP, []),
        (CAL, []),
    ],
)
def test_what_looks_like_a_secret_is_named(profile: Profile, names: list[str]) -> None:
    assert portable.telling(profile) == names


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("", "it is no export of helm's: it has no line version = 1"),
        ('version = "1"', "it is no export of helm's: it has no line version = 1"),
        ("version = true", "it is no export of helm's: it has no line version = 1"),
        ("version = 0", "it is no export of helm's: it has no line version = 1"),
        ("version = 2", "it is of version 2, and this helm knows 1; upgrade helm"),
        (f"version = {10**50}", "it is of version …, and this helm knows 1; upgrade helm"),
        (
            "version = 1\n[db",
            "it is no valid TOML: expected ']' at the end of a table declaration (at end of document)",
        ),
        ("a = " + "[" * 100_000, "it is nested too deeply"),
        ("version = 1\n" + "a." * 500_000 + "a = 1", "a key of it has more than 64 parts, which none in an export has"),
        ('"" . ' * 64 + "a = 1", "a key of it has more than 64 parts, which none in an export has"),
    ],
    ids=range(10),
)
def test_what_is_no_export_is_told(text: str, clause: str) -> None:
    with pytest.raises(ValueError, match=re.escape(clause) + "$"):
        portable_reading.read(text)


POSTGRES: Final = 'engine = "postgres"\nhost = "h"\nport = 1\ndatabase = "d"\nuser = "u"\n'
KNOWN: Final = "engine, path, host, port, socket, database, user, tls, tls_ca"
# What stands after `version = 1` -> each fault of it.
FAULTY: Final[dict[str, list[Any]]] = {
    "profile = 1": [
        (None, "", "the key profile is unknown (known are version, settings, db, service, mcp, extensions)")
    ],
    "db = 1": [(None, "", "db must be tables, each written [db.NAME]")],
    '[db]\nengine = "sqlite"': [(None, "db/engine", "it must be a table, written [db.NAME]")],
    f"[db.shop]\n{POSTGRES}secret = 'token'\nfolder = '/'\ncredential = 'file'\nname = 'x'\nprot = 1": [
        (2, "db/shop", f"the key {key} is unknown (known are {KNOWN}, secret)")
        for key in ("folder", "credential", "name")
    ]
    + [
        (2, "db/shop", "the key prot is unknown (did you mean port?)"),
        (2, "db/shop", 'the value of secret must be "password"'),
    ],
    f"[db.shop]\n{POSTGRES}secret = ['password']": [(2, "db/shop", 'the value of secret must be "password"')],
    '[ db . "shop" ]\nengine = "oracle"\nport = "1"': [
        (2, "db/shop", 'the value of engine must be "sqlite" or "postgres" or "mysql"'),
        (2, "db/shop", "the value of port must be a whole number"),
    ],
    "[db.shop]\nport = 1": [(2, "db/shop", "the key engine is missing")],
    '[db.shop]\nengine = "postgres"': [(2, "db/shop", "the engine postgres needs host (or socket)")],
    '[db.a]\nengine = "sqlite"\npath = "a.db"\n[db.b]\nengine = "sqlite"\npath = "/b"\nsecret = "password"': [
        (2, "db/a", "path must be absolute"),
        (5, "db/b", "a SQLite file has no secret"),
    ],
    '[db."../../x"]\n': [
        (2, "db/../../x",
         "that cannot be the name of a profile: it takes 1 to 64 of a-z, 0-9, dot, hyphen and underscore")
    ],
    f'[db.{"a" * 65}]\n': [
        (2, f"db/{'a' * 40}…",
         "that cannot be the name of a profile: it takes 1 to 64 of a-z, 0-9, dot, hyphen and underscore")
    ],
    '[service.s]\nbase_url = "http://evil.test"\nsecret = "token"': [
        (2, "service/s", "base_url must begin with https:// (http:// is permitted only for 127.0.0.1 and localhost)")
    ],
    '[service.s]\nbase_url = "https://s.test"\nsecret = "client-secret"': [
        (2, "service/s", 'the value of secret must be "token" for this profile')
    ],
    'service.s = {base_url = "https://s.test", client_id = "c", secret = "token"}': [
        (None, "service/s", 'the value of secret must be "client-secret" for this profile')
    ],
    '[mcp.m]\ncommand = ["x"]\nsecret = "token"': [
        (2, "mcp/m", "a token for a command needs token_env, the variable that gives it")
    ],
    '[mcp.m]\ncommand = ["x"]\ntoken_env = "PATH"\nsecret = "token"': [
        (2, "mcp/m", "token_env must not be one of the variables that every server gets")
    ],
    '[mcp.m]\ncommand = ["x"]\ntoken_env = "A=B"\nsecret = "token"': [
        (2, "mcp/m", "token_env must be the name of an environment variable")
    ],
    '[mcp.m]\ncommand = ["x", "--token", "canary-11aa"]': [
        (2, "mcp/m", "--token looks like a secret, which would stand open in the profile; take it out")
    ],
    '[mcp.m]\ncommand = ["x\\u0000"]': [(2, "mcp/m", "command must be texts in UTF-8 that hold no NUL")],
    "settings = 1": [(None, "settings", "it must be a table, written [settings]")],
    "[settings.limits]\ncalls_per_minute = 0": [
        (None, "settings", "the value of limits.calls_per_minute must be a whole number from 1 to 100000")
    ],
    "extensions = 1": [(None, "extensions", "each must be the id of an extension and its digest")],
    f'[[extensions]]\nid = "A"\ndigest = "{DIGEST}"\n[[extensions]]\nid = "a"\ndigest = "sha256:0"\n[[extensions]]': [
        (None, "extensions", "each must be the id of an extension and its digest")
    ]
    * 3,
}  # fmt: skip


@pytest.mark.parametrize("text", FAULTY)
def test_every_fault_is_told_and_nothing_of_it_is_used(text: str) -> None:
    found, faults = portable_reading.read(f"version = 1\n{text}\n")
    assert [tuple(fault) for fault in faults] == FAULTY[text]
    assert found.entries == () and found.extensions == ()


WORDS: Final = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)
NAMES: Final = st.from_regex(NAME, fullmatch=True)
PATHS: Final = WORDS.map(lambda word: f"/{word}")
HOSTS: Final = st.from_regex(r"[a-z0-9.-]{1,20}", fullmatch=True)
MODES: Final = st.sampled_from([None, "disable", "require", "verify-full"])


def each(record: type[Profile], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Profile]:
    """Profiles with these values, and in every other field what it has anyway."""
    return st.fixed_dictionaries({"name": NAMES, **fields}).map(lambda values: record(**values))


PROFILES: Final = st.one_of(
    each(Database, engine=st.just("sqlite"), path=PATHS),
    each(
        Database, engine=st.sampled_from(["postgres", "mysql"]), host=HOSTS, port=st.integers(1, 65535),
        database=WORDS, user=WORDS, tls=MODES, tls_ca=st.none() | PATHS,
    ),
    each(Service, base_url=HOSTS.map("https://{}.test".format), header=st.from_regex("X-[A-Z]{1,9}", fullmatch=True)),
    each(Service, base_url=st.just("https://s.test"), client_id=st.from_regex("[!-~]{1,20}", fullmatch=True)),
    each(
        Server, command=st.lists(WORDS, min_size=1, max_size=4).map(tuple), token_env=st.just("T_OK"),
        start_seconds=st.integers(1, 600),
    ),
    each(Server, url=HOSTS.map("https://{}.test/mcp".format)),
).filter(lambda profile: GROUPS[profile.group].fault(profile) is None and not portable.telling(profile))  # fmt: skip


@settings(max_examples=60)
@given(st.lists(st.tuples(PROFILES, st.booleans()), max_size=4, unique_by=lambda one: (one[0].group, one[0].name)))
def test_whatever_profiles_there_are_they_come_back(found: list[tuple[Profile, bool]]) -> None:
    entries = tuple(
        Entry(profile, portable.secret_of(profile) if has and getattr(profile, "engine", "") != "sqlite" else None)
        for profile, has in found
    )
    read, faults = portable_reading.read(portable.render(Portable(entries, {}, ())))
    assert faults == []
    assert {*read.entries} == {*entries}


@settings(max_examples=150)
@given(st.data())
def test_no_text_gets_in_what_a_profile_cannot_be(data: st.DataObject) -> None:
    """An export that was cut, doubled and scribbled into is told as faulty, or has sound profiles alone."""
    text = WHOLE
    for _ in range(data.draw(st.integers(1, 4))):
        start, end = sorted((data.draw(st.integers(0, len(text))), data.draw(st.integers(0, len(text)))))
        put = data.draw(
            st.sampled_from(["", text[start:end] * 2, "\n", '"', "[", "]", "=", "../", "\\u0000", "\x1b", "1"])
        )
        text = text[:start] + put + text[start + data.draw(st.integers(0, 30)) :]
    try:
        found, faults = portable_reading.read(text)
    except ValueError as error:
        assert str(error) and "\n" not in str(error)
        return
    assert all(fault.clause and len(fault.clause) < 400 for fault in faults)
    for entry in found.entries:
        recorded = entry.profile._replace(credential="file" if entry.secret else None)
        assert re.fullmatch(NAME, recorded.name) and GROUPS[recorded.group].fault(recorded) is None


def standing(stores: Stores, entry: Entry) -> str:
    return portable_taking.standing(stores, entry).state


def taken(stores: Stores, entry: Entry, secret: str = "") -> Profile:
    return portable_taking.take(stores, portable_taking.standing(stores, entry), secret)


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.id for entry in ENTRIES])
def test_a_profile_is_taken_once_and_with_its_secret(stores: Stores, entry: Entry) -> None:
    assert standing(stores, entry) == "new"
    assert taken(stores, entry, "s3cret" if entry.secret else "")._replace(credential=None) == entry.profile
    assert standing(stores, entry) == "same"
    recorded = profiles.load(stores.home, entry.profile.group, entry.profile.name)
    assert secrets.read(stores, recorded) == ("s3cret" if entry.secret else None)


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.secret], ids=lambda entry: entry.id)
def test_a_secret_that_comes_later_is_asked_for_by_each_use(stores: Stores, entry: Entry) -> None:
    recorded = taken(stores, entry)
    assert recorded == entry.profile._replace(credential="file") and standing(stores, entry) == "lacking"
    with pytest.raises(HelmError) as raised:
        secrets.read(stores, recorded)
    assert (raised.value.code, raised.value.message) == (
        "not_configured",
        f"the secret of {recorded.name} is not in this home yet; {secrets.again(recorded)}",
    )
    assert taken(stores, entry) == recorded and standing(stores, entry) == "lacking"
    assert taken(stores, entry, "s3cret") == recorded and standing(stores, entry) == "same"
    assert secrets.read(stores, recorded) == "s3cret"


def test_a_replaced_profile_keeps_its_secret_for_the_same_target_alone(stores: Stores) -> None:
    broker.add(stores, SHOP, "s3cret", force=False)
    other = Entry(SHOP._replace(database="other"), "password")
    assert standing(stores, other) == "other"
    assert secrets.read(stores, taken(stores, other)) == "s3cret"
    moved = Entry(SHOP._replace(host="evil.test"), "password")
    recorded = taken(stores, moved)
    assert standing(stores, moved) == "lacking"
    with pytest.raises(HelmError, match=r"the target of shop\.eu changed"):
        secrets.read(stores, recorded)
    assert secrets.read(stores, taken(stores, moved, "anew")) == "anew"


def test_a_profile_that_needs_no_secret_any_more_loses_it(stores: Stores) -> None:
    recorded = broker.add(stores, GITHUB, "s3cret", force=False)
    entry = Entry(GITHUB, None)
    assert standing(stores, entry) == "other"
    assert taken(stores, entry) == GITHUB
    with pytest.raises(HelmError):
        secrets.read(stores, recorded)


def test_a_token_gives_way_to_a_client_secret_that_comes_later(stores: Stores) -> None:
    broker.add(stores, CAL._replace(client_id=None, redirect_port=None), "s3cret", force=False)
    entry = Entry(CAL, "client-secret")
    assert standing(stores, entry) == "other"
    assert taken(stores, entry) == CAL._replace(credential="file")
    assert standing(stores, entry) == "lacking"
    assert "s3cret" not in (stores.home / "credentials.json").read_text()


def test_a_broken_profile_is_another_one_and_can_be_replaced(stores: Stores) -> None:
    filled(stores)
    (stores.home / "profiles" / "db" / "shop.eu.toml").write_text("x")
    assert portable_taking.standing(stores, ENTRIES[1]) == (ENTRIES[1], "other", None)
    assert taken(stores, ENTRIES[1], "s3cret") == SHOP._replace(credential="file")
    assert standing(stores, ENTRIES[1]) == "same"


def test_what_came_in_between_is_not_overwritten(stores: Stores) -> None:
    for entry in (Entry(SHOP, "password"), Entry(FILE, None)):
        before = portable_taking.standing(stores, entry)
        profiles.create(stores.home, entry.profile._replace(credential=None))
        with pytest.raises(HelmError) as raised:
            portable_taking.take(stores, before, "")
        assert raised.value.code == "conflict"


def test_a_secret_that_is_here_already_need_not_be_entered_again(stores: Stores) -> None:
    entry = Entry(SHOP, "password")
    assert not portable_taking.has_already(stores, portable_taking.standing(stores, entry), "s3cret")
    broker.add(stores, SHOP, "s3cret", force=False)
    found = portable_taking.standing(stores, entry)
    assert portable_taking.has_already(stores, found, "s3cret")
    assert not portable_taking.has_already(stores, found, "another")


@pytest.mark.parametrize(
    ("words", "sure", "doubted"),
    [
        (("srv", "--token", GITHUB_TOKEN), ["--token", "a word with the shape of a token"], []),
        (("srv", "--password", "12345"), [], ["--password"]),
        (("srv", "--port", "12345"), [], []),
    ],
)
def test_what_may_be_a_secret_is_told_apart_from_what_is_one(
    words: tuple[str, ...], sure: list[str], doubted: list[str]
) -> None:
    server = Server("srv", words)
    assert (portable.telling(server), portable.doubtful(server)) == (sure, doubted)


def test_a_setting_that_holds_a_secret_is_named() -> None:
    settings = {"drafts_dir": GITHUB_TOKEN, "other": "~/drafts", "port": 1, "limits": {"calls_per_minute": 1}}
    assert portable.telling_settings(settings) == ["drafts_dir"]
