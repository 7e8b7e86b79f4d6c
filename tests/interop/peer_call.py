"""Ask the real lionagi, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_AROUND = """
import asyncio, json, sys
from lionagi.state.db import StateDB
ARGUMENTS = json.loads(sys.argv[1])
async def main():
{body}
print("ANSWER " + json.dumps(asyncio.run(main()), default=str))
"""


def ask_peer(home: Path, body: str, **arguments: object) -> Any:
    """What the body of an async function returns that runs with the peer's ``StateDB`` at hand; it must be JSON."""
    code = _AROUND.format(body="\n".join(f"    {line}" for line in body.strip().splitlines()))
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(arguments)], env=_environment(home), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (answer,) = (line for line in done.stdout.splitlines() if line.startswith("ANSWER "))
    return json.loads(answer.removeprefix("ANSWER "))


def run_li(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The peer's own command line on this home."""
    command = [str(Path(sys.executable).with_name("li")), *arguments]
    return subprocess.run(command, env=_environment(home), capture_output=True, text=True, check=False, cwd=home)


def _environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LIONAGI_")}
    return {**kept, "LIONAGI_HOME": str(home), "HOME": str(home.parent), "TZ": "UTC"}
