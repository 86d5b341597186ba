"""A query as a script asks it: `python postgres.py PORT USER`, with the password on standard input."""

import json
import sys

import psycopg

SQL = "SELECT id, title, status FROM tickets WHERE status = %s ORDER BY id DESC LIMIT %s"

port, user = sys.argv[1:]
with psycopg.connect(host="127.0.0.1", port=port, dbname="zq_main", user=user, password=sys.stdin.read()) as db:
    cursor = db.execute(SQL, ["open", 20])
    columns = [column.name for column in cursor.description or ()]
    print(json.dumps({"ok": True, "data": {"columns": columns, "rows": cursor.fetchall()}, "error": None}))
