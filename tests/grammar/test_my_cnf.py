"""What an option file says is what MariaDB's own reader makes of it, and no profile is less strict than it was."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helm_cli.grammar import my_cnf
from helm_cli.grammar.database_url import Parts
from helm_cli.grammar.found import FoundDatabase

SECRET: Final = "canary-a5e2"
GROUPS: Final = ("client", "mysql", "client-server", "client-mariadb", "mariadb-client")


def theirs(file: Path, text: str, suffix: str = "") -> list[str] | None:
    """The options that the client programs take of a file, None where they refuse it."""
    program = shutil.which("my_print_defaults")
    assert program, "the tests need my_print_defaults (Debian: apt-get install mariadb-client-core)"
    file.write_bytes(text.encode())
    words = [program, f"--defaults-file={file}", *([f"--defaults-group-suffix={suffix}"] if suffix else []), *GROUPS]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    if done.returncode or b"error:" in done.stderr:
        return None
    return done.stdout.decode(errors="replace").removesuffix("\n").split("\n--") if done.stdout else []


def agrees(file: Path, text: str, suffix: str = "") -> bool:
    wanted = theirs(file, text, suffix)
    try:
        read = my_cnf.read(text)
    except ValueError:
        return wanted is None
    groups = {name + end for name in GROUPS for end in ("", suffix)}
    flat = [option for name, options in read.groups if name in groups for option in options]
    ours = [name if value is None else f"{name}={value}" for name, value in flat]
    return wanted == [("--" if not at else "") + option for at, option in enumerate(ours)]


FILES: Final = [
    "[client]\nhost=x\nuser = me \n  password\t=  a b  \n",
    "[client]\npassword='a#b' # c\npassword=\"a;b\"\npassword=a#b\npassword=a;b\n",
    "[client]\npassword='it''s'\npassword='\npassword=''\npassword=\"'\"\npassword='a\n",
    "[client]\npassword=a\\sb\\tc\\nd\\\\e\\x\\'\\\"\\b\\r\npassword=a\\\npassword='a\\'b'\n",
    '[client]\npassword="a\\"#b"\npassword="a\\\\"#b\n',
    "[client]\n#host=x\n;host=y\n\n   \nhost\nskip-ssl\n",
    "[ client ]\nhost=x\n[client ]\nhost=y\n[client]tail\nhost=z\n",
    "[client\nhost=x\n",
    "host=x\n[client]\n",
    "[other]\nhost=x\n[client]\nhost=y\n[mysql]\nhost=z\n[client]\nuser=u\n",
    "[client]\nhost=\n=x\npassword==\npassword=a=b\n",
    "[client]\r\nhost=x\r\n",
    "[client]\npassword=pässword\n",
    "[client]\nhost # c\n# d\nuser #=x\n",
]


@pytest.mark.parametrize("text", FILES)
def test_a_file_means_what_it_means_to_the_clients(tmp_path: Path, text: str) -> None:
    assert agrees(tmp_path / "file", text)


def test_a_suffix_adds_its_groups(tmp_path: Path) -> None:
    text = (
        "[client]\nhost=a\nuser=u\n[client-x]\nhost=b\n[mysql-x]\ndatabase=d\n[client-y]\nhost=c\n[mysqldump-x]\na=b\n"
    )
    assert agrees(tmp_path / "file", text, "-x") and agrees(tmp_path / "file", text)
    read = my_cnf.read(text)
    assert [option[:2] for option in my_cnf.options(read)] == [("host", "a"), ("user", "u")]
    assert dict(option[:2] for option in my_cnf.options(read, "-x")) == {"host": "b", "user": "u", "database": "d"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(st.text("ab='\"#;\\s n\t[]", max_size=12).map("x=".__add__), max_size=12))
def test_made_up_options_mean_the_same(tmp_path: Path, lines: list[str]) -> None:
    assert agrees(tmp_path / "file", "\n".join(["[client]", *lines]))


@given(
    st.text()
    | st.lists(st.sampled_from(["[client]", "[client-a]", "host=x", "ssl", "!include y", "user=u"])).map("\n".join)
)
def test_no_text_trips_the_reader(text: str) -> None:
    try:
        file = my_cnf.read(text)
    except (ValueError, UnicodeEncodeError):
        return
    my_cnf.found(file, "login")


def test_a_line_that_the_clients_would_cut_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^line 2 is over 4,000 bytes$"):
        my_cnf.read("[client]\npassword=" + "p" * 4000)


def found(*lines: str, suffix: str = "") -> FoundDatabase:
    """What is found in a group of these lines, and a user and a database in [client]."""
    whole = my_cnf.found(
        my_cnf.read("\n".join(["[client]", "user=me", "database=d", f"[client{suffix}]", *lines])), "me"
    )
    assert SECRET not in repr(whole)
    return whole[-1]


def test_a_file_holds_a_server_for_its_usual_groups_and_each_suffix() -> None:
    text = f"""
        [mysqld]
        host=server
        [client]
        user=me
        password="{SECRET}"
        [mysql]
        database=shop
        prompt=x
        [client-prod]
        host=prod.test
        port=3307
        [client_test]
        socket=/run/test.sock
        [mysql_test]
        database=other
    """
    file = my_cnf.read(text)
    note = "it names no socket, so helm takes TCP, where the client would take its own Unix socket"
    whole = Parts("mysql", host="localhost", port=3306, database="shop", user="me", password=SECRET)
    prod = whole._replace(host="prod.test", port=3307)
    test = whole._replace(host=None, port=None, socket="/run/test.sock", database="other")
    assert my_cnf.found(file, "login") == [
        FoundDatabase("shop", "[client]", whole, (note,)),
        FoundDatabase("prod", "[client-prod]", prod),
        FoundDatabase("test", "[client_test]", test),
    ]
    assert SECRET not in repr((file, my_cnf.found(file, "login")))


def test_a_file_without_a_server_holds_none() -> None:
    assert my_cnf.found(my_cnf.read("[mysqld]\nport=1\n[mysql]\nprompt=x\n[client]\n"), "me") == []


def test_what_the_clients_take_of_the_account_is_said() -> None:
    (one,) = my_cnf.found(my_cnf.read("[client]\nhost=db.test\npassword"), "login")
    parts = Parts("mysql", host="db.test", port=3306, user="login")
    assert one == FoundDatabase(
        "db.test", "[client]", parts, ("it names no user, so the client takes your own name, login",)
    )
    (one,) = my_cnf.found(my_cnf.read("[client]\nhost=db.test"), "")
    assert one.fault == "it names no user, and your account here has no name"


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["host=db.test"], {"host": "db.test", "port": 3306}),
        (["loose_host=db.test", "socket=/s"], {"host": "db.test", "port": 3306}),
        (["host=localhost", "socket=/s", "port=1"], {"socket": "/s"}),
        (["socket=/s", "ssl-mode=REQUIRED"], {"socket": "/s"}),
        (["host=localhost", "socket=/s", "protocol=tcp"], {"host": "localhost", "port": 3306}),
        (["host=127.0.0.1", "socket=/s", "port=3307"], {"host": "127.0.0.1", "port": 3307}),
    ],
)
def test_where_a_server_is(lines: list[str], place: dict[str, Any]) -> None:
    assert found(*lines).parts == Parts("mysql", database="d", user="me", **place)


LEFT: Final = "left out: helm has no such setting"
PREFERRED: Final = "its ssl-mode preferred may go without TLS; helm is stricter and requires it off this machine"
BECOMES: Final = "its ssl-mode verify_ca becomes the stricter verify-full, with this machine's authorities"


@pytest.mark.parametrize(
    ("lines", "tls", "authority", "notes"),
    [
        ([], None, None, []),
        (["ssl-mode=DISABLED", "ssl-ca=/ca"], "disable", None, []),
        (["ssl_mode=preferred", "ssl-ca=/ca"], None, None, [PREFERRED]),
        (["ssl-mode=REQUIRED"], "require", None, []),
        (["ssl-mode=VERIFY_CA", "ssl-ca=/ca"], "require", "/ca", []),
        (["ssl-mode=VERIFY_CA"], "verify-full", None, [BECOMES]),
        (["ssl-mode=VERIFY_IDENTITY", "ssl-ca=/ca"], "verify-full", "/ca", []),
        (["ssl-ca=/ca"], "require", "/ca", []),
        (["ssl"], "require", None, []),
        (["ssl=0"], "disable", None, []),
        (["skip-ssl"], "disable", None, []),
        (["ssl-verify-server-cert", "ssl-ca=/ca"], "verify-full", "/ca", []),
        (["ssl", "disable-ssl-verify-server-cert"], "require", None, []),
        (["ssl=0", "ssl-ca=/ca"], "require", "/ca", []),
        (["ssl-ca=/ca", "ssl=0"], "disable", None, []),
        (["ssl", "skip-ssl", "ssl"], "require", None, []),
        (["ssl=0", "ssl-ca=/ca", "[mysql]", "skip-ssl", "[client]", "ssl=1"], "require", "/ca", []),
        (["ssl-verify-server-cert", "ssl=0", "ssl"], "verify-full", None, []),
        (["ssl-verify", "ssl-ca=/ca"], "verify-full", "/ca", []),
        (["ssl=0", "ssl-key=/k"], "require", None, [f"ssl-key is {LEFT}"]),
        (["ssl=0", "ssl-ca="], "require", None, []),
        (["skip-ssl=0"], "require", None, []),
        (["skip-ssl=off"], "disable", None, []),
        (["SSL_CA=/ca"], "require", "/ca", []),
        (["loose-ssl-mode=DISABLED", "ssl-ca=/ca"], "require", "/ca", []),
        (["loose-ssl-mode=VERIFY_IDENTITY", "skip-ssl"], "verify-full", None, []),
        (["ssl-mode=REQUIRED", "ssl-verify-server-cert"], "verify-full", None, []),
        (["ssl-mo=VERIFY_IDENTITY"], "verify-full", None, []),
        (["ssl-mode=PREFERRED", "skip-ssl"], None, None, [PREFERRED]),
    ],
)
def test_tls_is_never_less_strict(lines: list[str], tls: str | None, authority: str | None, notes: list[str]) -> None:
    one = found("host=db.test", *lines)
    assert one.parts is not None
    assert (one.parts.tls, one.parts.tls_ca, [*one.notes]) == (tls, authority, notes)


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (["port=0"], "its port is none from 1 to 65535"),
        (["protocol=pipe"], "its protocol is neither TCP nor SOCKET"),
        (
            ["protocol=SOCKET"],
            "it wants a Unix socket and does not say which; add it by hand with --socket",
        ),
        (["host=a", f"ssl-mode={SECRET}"], "its ssl-mode is none that the clients know"),
        (
            ["host=a", "ssl-crl=/x"],
            "helm has no setting for its ssl-crl, without which the connection would be less protected; add it by hand"
            " to go without",
        ),
        (
            ["host=a", "ssl-c=/x"],
            "one of its options may be short for ssl-ca or ssl-capath or ssl-cert or ssl-cipher or"
            " ssl-crl or ssl-crlpath; write its whole name there",
        ),
        (
            ["host=a", f"loose-ssl-{SECRET}=1"],
            "one of its options for TLS is none that helm knows, and without it the"
            " connection may be less protected; add it by hand to go without",
        ),
    ],
)
def test_what_is_refused_says_why(lines: list[str], fault: str) -> None:
    assert found(*lines).fault == fault


def theirs_of(file: Path, lines: list[str]) -> dict[str, str] | None:
    """What MariaDB's client itself would use, None where it refuses the file; nothing is connected to."""
    program = shutil.which("mariadb")
    assert program, "the tests need mariadb (Debian: apt-get install mariadb-client-core)"
    file.write_text("\n".join(["[client]", "host=db.test", "user=me", *lines]))
    words = [program, f"--defaults-file={file}", "--help"]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, text=True)
    if done.returncode or f"{program.rsplit('/')[-1]}: " in done.stderr.replace("Warning: mariadb", ""):
        return None
    rows = (line.partition(" ") for line in done.stdout[done.stdout.index("\n---") :].splitlines())
    return {name: value.strip().replace("(No default value)", "") for name, _, value in rows}


CLIENTS: Final = [
    *(f"{prefix}{name}{value}" for prefix in ("", "skip-", "enable-", "loose-", "loose-skip-", "skip-enable-")
      for name in ("ssl", "SSL", "ssl-verify-server-cert", "ssl_verify", "ssl-v") for value in ("", "=0", "=1")),
    *(f"{name}={value}" for name in ("ssl", "skip-ssl") for value in ("", "on", "TRUE", "yes", "off", "2", "01")),
    *("us=q", "user=q", "USER=q", "loose_user=q", "ho=q", "so=/q", "po=33", "da=q", "prot=tcp", "database=a;database="),
    *("ssl=0;ssl-ca=/q", "ssl-ca=/q;ssl=0", "ssl;skip-ssl;ssl", "ssl=0;ssl-key=/q", "ssl=0;ssl-cip=q", "ssl=0;ssl-ca="),
    *("ssl=0;[mysql];ssl-ca=/q;[client];skip-ssl", "ssl;[mysql];ssl=0;[client];ssl", "ssl=0;tls-version=q"),
    *("ss=0", "ssl-=0", "ssl-c=/q", "ssl-cr=/q", "s=q", "p=q", "d=q", "ssl-bogus", "s-sl=0", "--ssl=0"),
]  # fmt: skip


@pytest.mark.parametrize("written", CLIENTS)
def test_an_option_means_what_it_means_to_the_client(tmp_path: Path, written: str) -> None:
    lines = written.split(";")
    wanted = theirs_of(tmp_path / "file", lines)
    options = my_cnf.options(my_cnf.read("\n".join(["[client]", "host=db.test", "user=me", *lines])))
    if wanted is None:
        known = {"s-sl", "--ssl"}
        assert any(option.fault or option.name in known for option in options)
        return
    assert not any(option.fault for option in options)
    ours = {option.name: option.value or "" for option in options}
    texts = ("host", "user", "socket", "database", "protocol", "ssl-ca")
    assert {name: ours.get(name, "") for name in texts} == {name: wanted[name] for name in texts}
    assert ours.get("port", "0") == wanted["port"]
    # What they take where nothing is said is not the same for all of them.
    on = {"require": True, "verify-full": True, "disable": False, None: wanted["ssl"] == "TRUE"}
    switched = my_cnf._switched(options, implied=True)
    assert on[switched] == (wanted["ssl"] == "TRUE")
    assert (switched == "verify-full") == (wanted["ssl"] == wanted["ssl-verify-server-cert"] == "TRUE")


def test_a_short_name_of_the_password_is_known_too() -> None:
    assert [
        found("host=a", line).parts for line in (f"pass={SECRET}", f"loose-password={SECRET}", "skip-password")
    ] == [
        Parts("mysql", host="a", port=3306, database="d", user="me", password=word) for word in (SECRET, SECRET, None)
    ]


def test_a_group_that_makes_no_name_is_told_and_the_others_found() -> None:
    text = "[client]\ndatabase=???\nhost=db.test\nuser=me\n[client-???]\nhost=a\n[client-b]\nhost=b\n"
    assert [(one.name, one.origin, one.fault) for one in my_cnf.found(my_cnf.read(text), "me")] == [
        ("db.test", "[client]", ""),
        ("", "[client-???]", "no name of a profile can be made from its name"),
        ("b", "[client-b]", ""),
    ]


def test_what_is_left_out_is_named() -> None:
    assert found("host=a", "init-command=SET x", "ssl-cert=/x", "prompt=y").notes == (
        "init-command and ssl-cert are left out: helm has no such setting",
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"{SECRET}=x", "line 1 stands before the first group, such as [client]"),
        (f"[client]\n[{SECRET}", "line 2 has no ] at the end of its group's name"),
    ],
)
def test_what_the_clients_refuse_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        my_cnf.read(text)
    assert theirs(tmp_path / "file", text) is None


def test_what_a_file_includes_is_counted_and_not_read() -> None:
    assert my_cnf.read("!include /etc/x\n[client]\n !includedir /etc/y\nhost=a").includes == 2
