"""The SDK's parts are imported without the rest where it is laid out as known, and as anybody would where it is not."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.program import environment

# What `import mcp` brings of servers and web frameworks.
REST = ("mcp.server", "mcp.client.client", "starlette", "uvicorn", "sse_starlette", "jsonschema")
SESSION = """
import sys
from helm_cli.drivers import mcp_sdk
print(mcp_sdk.session.ClientSession.__module__, [name for name in sys.argv[1:] if name in sys.modules])
import mcp
print(mcp.Client.__name__, mcp.ClientSession is mcp_sdk.session.ClientSession)
"""
# The SDK itself is as it was, but what helm takes from it is not there when it is looked for alone.
OTHERWISE = """
import sys
from importlib.machinery import PathFinder
found = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name == "mcp" and not rest else found(name, *rest)
from helm_cli.drivers import mcp_sdk
print(mcp_sdk.session.ClientSession.__module__, "mcp.server" in sys.modules)
"""
# Half of it is there, the other half not.
HALFWAY = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "mcp.shared.inbound" and "mcp.server" not in sys.modules and "mcp.types" not in sys.modules:
            raise ImportError("moved")
sys.meta_path.insert(0, Hidden())
from helm_cli.drivers import mcp_sdk
print(mcp_sdk.session.ClientSession.__module__, "mcp.server" in sys.modules)
"""


def printed(program: str, *words: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program, *words], env=environment({}), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_rest_is_left_out_and_can_be_had_later() -> None:
    assert printed(SESSION, *REST) == ["mcp.client.session []", "Client True"]


@pytest.mark.parametrize("program", [OTHERWISE, HALFWAY])
def test_another_layout_is_imported_as_anybody_would(program: str) -> None:
    assert printed(program) == ["mcp.client.session True"]


def test_a_guardian_needs_next_to_nothing() -> None:
    from helm_cli.drivers import mcp_guardian

    program = "import sys; exec(open(sys.argv[1]).read(), {'__name__': 'guardian'}); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(Path(mcp_guardian.__file__))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not {"typing", "re", "json", "subprocess", "ctypes", "helm_cli"} & set(done.stdout.split())
