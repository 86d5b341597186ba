"""Connection URLs: what each says, and that a refusal never repeats any of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helm_cli.grammar.database_url import Parts, parse


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("postgres://h/d", Parts("postgres", host="h", database="d")),
        (
            "postgresql://me:pw@db.test:6432/shop?sslmode=verify-full&sslrootcert=/etc/ca.pem",
            Parts(
                "postgres",
                host="db.test",
                port=6432,
                database="shop",
                user="me",
                password="pw",
                tls="verify-full",
                tls_ca="/etc/ca.pem",
            ),
        ),
        ("postgresql+psycopg://me@[::1]:5432/d", Parts("postgres", host="::1", port=5432, database="d", user="me")),
        ("POSTGRES://h", Parts("postgres", host="h")),
        ("postgres:///d?host=/run/pg", Parts("postgres", socket="/run/pg", database="d")),
        ("postgres://me@%2Frun%2Fpg/d", Parts("postgres", socket="/run/pg", database="d", user="me")),
        ("postgres://h/?dbname=d&user=u&password=p%26", Parts(
            "postgres", host="h", database="d", user="u", password="p&")),
        ("postgres://u%40x:p%2Fa%3Fb%23c%40d%3A@h/d%20e", Parts(
            "postgres", host="h", database="d e", user="u@x", password="p/a?b#c@d:")),
        ("mysql://me:p:w@h:3307/d?ssl-mode=REQUIRED", Parts(
            "mysql", host="h", port=3307, database="d", user="me", password="p:w", tls="require")),
        ("mariadb://me@localhost/d?socket=/my", Parts("mysql", socket="/my", database="d", user="me")),
        ("mysql://h/d?ssl_mode=VERIFY_IDENTITY&ssl_ca=/ca", Parts(
            "mysql", host="h", database="d", tls="verify-full", tls_ca="/ca")),
        ("mysql://h/d?sslmode=disable", Parts("mysql", host="h", database="d", tls="disable")),
        ("sqlite:///app.db", Parts("sqlite", path="app.db")),
        ("sqlite:////srv/a%20b.db", Parts("sqlite", path="/srv/a b.db")),
        ("  sqlite:///./x.db\n", Parts("sqlite", path="./x.db")),
    ],
)  # fmt: skip
def test_what_a_url_says(url: str, parts: Parts) -> None:
    assert parse(url) == parts


@pytest.mark.parametrize(
    ("url", "clause"),
    [
        ("", "it is no connection URL, such as postgres://user:password@host:5432/database"),
        ("host=h dbname=d", "it is no connection URL, such as postgres://user:password@host:5432/database"),
        ("oracle://u:CANARY@h/d", "its scheme is none of postgres, postgresql, mysql, mariadb and sqlite"),
        (
            "postgres://u:12/CANARY@h/d",
            "an @ stands after the host; write / ? # and @ in a password as %2F %3F %23 and %40",
        ),
        (
            "postgres://u:1?CANARY@h/d",
            "an @ stands after the host; write / ? # and @ in a password as %2F %3F %23 and %40",
        ),
        ("postgres://u:CANARY#x@h/d", "it is no connection URL, such as postgres://user:password@host:5432/database"),
        ("postgres://h1,h2/d", "it names several hosts; name one"),
        (
            "postgres://u:CANARY@h:port/d",
            "what stands between // and the path is not user:password@host:port; escape with %40 and so on",
        ),
        ("postgres://h:0/d", "its port is none from 1 to 65535"),
        ("postgres://h:65536/d", "its port is none from 1 to 65535"),
        ("postgres://h/a/b", "its path is more than the name of a database"),
        (
            "postgres://h/d?sslmode=prefer",
            "its sslmode is none that helm has; take disable, require or verify-full",
        ),
        ("mysql://h/d?ssl-mode=VERIFY_CA", "its ssl-mode is none that helm has; take disable, require or verify-full"),
        (
            "mysql://h/d?charset=CANARY",
            "helm has no setting for its option charset; take it out (known are ssl-mode, ssl_mode, sslmode, ssl-ca,"
            " ssl_ca, socket, unix_socket)",
        ),
        *(
            (
                f"mysql://me:p@h/d?{rest}",
                "helm has no setting for an option of it; take it out (known are ssl-mode, ssl_mode, sslmode, ssl-ca,"
                " ssl_ca, socket, unix_socket)",
            )
            for rest in ("CANARY", "CANARY=", "CANARY%21=x", "%20CANARY=x", f"{'CANARY' * 7}=x", "=CANARY")
        ),
        (
            "mysql://user%3ACANARY@h/db",
            "its user has a colon; write the one before the password as it is, not as %3A",
        ),
        (
            "postgres://h/db?user=me%3ACANARY",
            "its user has a colon; write the one before the password as it is, not as %3A",
        ),
        ("postgres://me%3ACANARY%40h/d", "its host is none; write the @ before it as it is, not as %40"),
        (
            "postgres://me:12/CANARY%40h",
            "an @ stands after the host; write / ? # and @ in a password as %2F %3F %23 and %40",
        ),
        ("postgres://h/d?port=1&port=2", "it says port twice"),
        ("mysql://%2Fa/d?socket=/b", "it names two sockets"),
        ("postgres://h:1/d?port=2", "it says port twice, and differently"),
        ("postgres://h/d%00", "it holds a NUL character"),
        ("postgres://u:%ff@h/d", "its percent-escapes are not UTF-8"),
        ("sqlite://", "it names no file"),
        ("sqlite:///:memory:", "it names no file"),
        (
            "sqlite://srv/app.db",
            "a sqlite URL holds a path and nothing else: sqlite:///app.db or sqlite:////srv/app.db",
        ),
    ],
)
def test_a_url_that_is_refused(url: str, clause: str) -> None:
    with pytest.raises(ValueError) as refused:
        parse(url)
    assert str(refused.value) == clause
    assert "CANARY" not in str(refused.value)


@given(st.text(max_size=60), st.text("abc:/@?#%[]&=+,é\0 ", max_size=30))
def test_any_text_is_taken_or_refused_without_its_secret(noise: str, password: str) -> None:
    for text in (noise, f"postgres://u:{password}Zz9canary@h/d", f"mysql://u:Zz9canary{password}@h/d"):
        try:
            parts = parse(text)
        except ValueError as error:
            assert "Zz9canary" not in str(error)
        else:
            outside = [str(value) for name, value in parts._asdict().items() if name != "password"]
            assert not any("Zz9canary" in value for value in outside)
