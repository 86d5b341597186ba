"""A query as a script asks it: `python sqlite.py FILE SQL`."""

import json
import sqlite3
import sys
from pathlib import Path

db = sqlite3.connect(Path(sys.argv[1]).as_uri() + "?mode=ro", uri=True)
cursor = db.execute(sys.argv[2], ["open", 20])
columns = [column[0] for column in cursor.description]
print(json.dumps({"ok": True, "data": {"columns": columns, "rows": cursor.fetchall()}, "error": None}))
