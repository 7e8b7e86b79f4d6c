"""Upgrades stores in processes that can be killed: one warm process forks a new one for each path that it reads.

python kill_loop.py    reads "PATH SECONDS" a line; kills the upgrade after so many seconds (0: never); prints its fate
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

from studio_tui.state.migrations import whole  # noqa: F401  (the fork must not import)
from studio_tui.state.store import Store


async def upgrade(path: Path) -> None:
    store = Store(path, home=path.parent)
    await store.open()
    await store.migrate(None)
    await store.close()


def one(path: Path, seconds: float) -> tuple[str, float]:
    """Upgrade in a child; what became of it, and how long it took."""
    began = time.monotonic()
    child = os.fork()
    if not child:
        try:
            asyncio.run(upgrade(path))
        except BaseException as error:
            print(f"failed: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    if seconds:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return ("killed" if os.WIFSIGNALED(status) else f"exit {os.WEXITSTATUS(status)}"), time.monotonic() - began


def main() -> None:
    asyncio.run(asyncio.sleep(0))
    for line in sys.stdin:
        path, seconds = line.rsplit(" ", 1)
        fate, took = one(Path(path), float(seconds))
        print(f"{fate} {took}", flush=True)


if __name__ == "__main__":
    main()
