"""A query as a script asks it: `python postgres.py PORT USER`, or N times, `python postgres.py PORT USER N`.

The password comes on standard input.
"""

import json
import sys

import psycopg

SQL = "SELECT id, title, status FROM tickets WHERE status = %s ORDER BY id DESC LIMIT %s"

port, user, *count = sys.argv[1:]
with psycopg.connect(host="127.0.0.1", port=port, dbname="zq_main", user=user, password=sys.stdin.read()) as db:
    for _ in range(int(count[0]) if count else 1):
        cursor = db.execute(SQL, ["open", 20])
        columns = [column.name for column in cursor.description or ()]
        data = {"columns": columns, "rows": cursor.fetchall()}
        print(json.dumps({"ok": True, "data": data, "error": None}), flush=True)
