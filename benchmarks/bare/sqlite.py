"""A query as a script asks it: `python sqlite.py FILE SQL`, or N times, `python sqlite.py FILE SQL N`."""

import json
import sqlite3
import sys
from pathlib import Path

file, sql, *count = sys.argv[1:]
db = sqlite3.connect(Path(file).as_uri() + "?mode=ro", uri=True)
for _ in range(int(count[0]) if count else 1):
    cursor = db.execute(sql, ["open", 20])
    columns = [column[0] for column in cursor.description]
    print(json.dumps({"ok": True, "data": {"columns": columns, "rows": cursor.fetchall()}, "error": None}), flush=True)
