"""A console without a screen that watches itself while it hosts a home.

    python -m tests.bench.host_probe HOME SECONDS [quiet]

It prints one JSON object: the longest stall of its event loop, its write transactions and its CPU time, from the moment at which
it hosts until the end. With ``quiet`` it does not look at its loop, which costs CPU of its own.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from studio_tui.bootstrap import open_console
from studio_tui.settings import load_settings
from studio_tui.state.db import StateDB

_LOOK_EVERY = 0.005


async def main(home: Path, seconds: float, quiet: bool) -> None:
    """Host for a while."""
    found: dict[str, float] = {"stall_ms": 0.0, "writes": 0}
    original = StateDB.write

    async def counted(self: StateDB, work: Any) -> Any:
        found["writes"] += 1
        return await original(self, work)

    StateDB.write = counted  # type: ignore[method-assign]
    async with open_console(load_settings({"home": home, "scheduler": True}), print, ask=False) as studio:
        while studio.host.status().pass_age is None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        await asyncio.sleep(1.0 if not quiet else 20.0)  # the reapers have looked once by then
        begun, cpu = time.monotonic(), time.process_time()
        while time.monotonic() < begun + seconds:
            before = time.perf_counter()
            pause = seconds if quiet else _LOOK_EVERY
            await asyncio.sleep(pause)
            found["stall_ms"] = max(found["stall_ms"], (time.perf_counter() - before - pause) * 1e3)
        found["cpu_s"] = time.process_time() - cpu
    found["seconds"] = time.monotonic() - begun
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), float(sys.argv[2]), "quiet" in sys.argv[3:]))
