"""A file as a script reads it: `python read.py FILE`, or N times, `python read.py FILE N`."""

import hashlib
import json
import sys

name, *count = sys.argv[1:]
for _ in range(int(count[0]) if count else 1):
    with open(name, "rb") as file:
        bytes_ = file.read()
    data = {"text": bytes_.decode(), "sha256": hashlib.sha256(bytes_).hexdigest()}
    print(json.dumps({"ok": True, "data": data, "error": None}), flush=True)
