"""The whole program on Postgres: a profile with a password, an approved extension, calls."""

from pathlib import Path

import pytest

from tests import example
from tests.program import Helm
from tests.rig.postgres import OWNER, PASSWORD, Postgres
from tests.suites.postgres import bench_of


@pytest.mark.contract("C13", "C97")
def test_a_call(helm: Helm, postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench_of(postgres)
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    example.ready_on_postgres(helm, tmp_path, postgres)
    recent = ("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1")
    done = helm(*recent, cwd=tmp_path, env={"PGHOST": "127.0.0.9", "PGOPTIONS": "-c search_path=pg_temp"})
    assert (done.status, done.err) == (0, "")
    columns = ["id", "title", "status"]
    assert done.json == {"ok": True, "data": {"columns": columns, "rows": [[2, "Two", "open"]]}, "error": None}
    tried = helm("db", "test", "pg", cwd=tmp_path)
    assert (tried.status, tried.err) == (0, "")
    assert tried.out.startswith("pg: PostgreSQL ")
    assert postgres.quiet()


@pytest.mark.contract("C13", "C103")
def test_a_server_that_is_gone_is_one_line(
    helm: Helm, postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELM_CLI_CREDENTIALS", "file")
    example.ready_on_postgres(helm, tmp_path, postgres)
    postgres.outside("ALTER ROLE zq_owner PASSWORD 'changed'")
    try:
        done = helm("call", "app", "recent", "--arg", "status=open", "--arg", "limit=1", cwd=tmp_path)
    finally:
        postgres.outside(f"ALTER ROLE zq_owner PASSWORD '{PASSWORD.replace(chr(39), chr(39) * 2)}'")
    message = "the server refused the sign-in; check the profile's user and password"
    assert done.status == 10
    assert done.json == {"ok": False, "data": None, "error": {"code": "unavailable", "message": message}}
    assert done.err.count("\n") == 1
    for told in (PASSWORD, OWNER, str(postgres.port), "127.0.0.1"):
        assert told not in done.out + done.err
