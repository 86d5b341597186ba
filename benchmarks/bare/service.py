"""One GET as a script sends it, `python service.py URL`, or N over one client, `python service.py URL N`.

The token comes on standard input.
"""

import json
import sys

import httpx

url, *count = sys.argv[1:]
headers = {"Authorization": f"Bearer {sys.stdin.read()}"}
query = {"state": "open", "per_page": "20"}


def told(reply: httpx.Response) -> None:
    reply.raise_for_status()
    print(json.dumps({"ok": True, "status": reply.status_code, "data": reply.json(), "error": None}), flush=True)


if count:
    with httpx.Client(timeout=10, headers=headers) as client:
        for _ in range(int(count[0])):
            told(client.get(url, params=query))
else:
    told(httpx.get(url, params=query, headers=headers, timeout=10))
