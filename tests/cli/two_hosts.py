"""A host on a PostgreSQL store that believes to hold the lock, whoever else does; it prints how many firings it claimed.

python -m tests.cli.two_hosts HOME URL SECONDS
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from studio_tui.assembly import Assembly
from studio_tui.settings import load_settings
from tests.scheduler.real_host import EveryonesLease


async def main(home: Path, url: str, seconds: float) -> None:
    settings = load_settings({"home": home, "db": url, "scheduler": True})
    assembly = Assembly(settings, hosts=True)
    assembly.__dict__["lease"] = EveryonesLease()
    claimed = 0
    scheduling: Any = assembly.scheduling
    original = scheduling.claim

    async def claim(*arguments: Any, **options: Any) -> bool:
        nonlocal claimed
        won = bool(await original(*arguments, **options))
        claimed += won
        return won

    scheduling.claim = claim
    await assembly.database.open()
    await assembly.scheduler_host.start()
    await asyncio.sleep(seconds)
    await assembly.scheduler_host.stop()
    await assembly.database.close()
    print(claimed)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])))
