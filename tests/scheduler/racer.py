"""A console that fires one schedule by hand, many times at once, as soon as it is told; a second one does the same.

    python -m tests.scheduler.racer HOME SCHEDULE_ID TIMES [SLOTS] [--again]

It prints ``ready``, waits for a line, and prints as JSON how many it fired and why the others were not. With ``--again`` each try
that fires is followed by another one.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path

from studio_tui.application.errors import Conflict
from tests.scheduler.real_host import console


async def race(home: Path, schedule_id: str, times: int, slots: int, *, again: bool) -> Counter[str]:
    """Fire as often as the gates allow; what became of each try."""
    async with console(home, allowed=frozenset({"sleep"}), slots=slots) as made:
        found = await made.state.get_schedule(schedule_id)
        assert found is not None
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)

        async def once() -> Counter[str]:
            (tried,) = await asyncio.gather(made.host.fire_now(found), return_exceptions=True)
            words = Counter([_word(tried)])
            return words + await once() if again and isinstance(tried, str) else words

        tries = await asyncio.gather(*(once() for _ in range(times)))
    return sum(tries, Counter())


def _word(tried: str | BaseException) -> str:
    if isinstance(tried, str):
        return "fired"
    if isinstance(tried, Conflict):
        return str(tried).removeprefix("not fired: ").partition(":")[0]
    return repr(tried)


if __name__ == "__main__":
    again = "--again" in sys.argv
    chosen = [argument for argument in sys.argv[1:] if argument != "--again"]
    print(json.dumps(asyncio.run(race(Path(chosen[0]), chosen[1], int(chosen[2]), int(chosen[3]), again=again))), flush=True)
