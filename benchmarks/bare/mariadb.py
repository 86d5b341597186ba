"""A query as a script asks it: `python mariadb.py PORT USER`, or N times, `python mariadb.py PORT USER N`.

The password comes on standard input.
"""

import json
import sys

import mysql.connector

SQL = "SELECT id, title, status FROM tickets WHERE status = %s ORDER BY id DESC LIMIT %s"

port, user, *count = sys.argv[1:]
where = {"host": "127.0.0.1", "port": port, "database": "app", "user": user}
with mysql.connector.connect(**where, password=sys.stdin.read(), use_pure=True, ssl_disabled=True) as db:
    for _ in range(int(count[0]) if count else 1):
        cursor = db.cursor()
        cursor.execute(SQL, ["open", 20])
        columns = [column[0] for column in cursor.description or ()]
        data = {"columns": columns, "rows": cursor.fetchall()}
        print(json.dumps({"ok": True, "data": data, "error": None}), flush=True)
