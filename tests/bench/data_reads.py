"""What the reads of the store cost beside plain sqlite3 and the peer's daemon, in one run (metrics 3 to 5, data of 6 and 7).

    python -m tests.bench.data_reads SMALL LARGE [--pairs 30] [--peer]
    python -m tests.bench.data_reads --smoke

SMALL and LARGE are homes of ``tests.bench.homes``. Every side must give the same answers first; then they take turns. A hop is
``SELECT 1`` through an engine of SQLAlchemy as it comes; a page should cost no more than three times sqlite3 and one hop for
each statement. The
peer's figures hold no browser and its answers more than ours, over a socket: they are a lower bound of what its user waits for,
and not a like for like. ``--smoke`` makes two tiny homes, asks everything once, and prints figures that mean nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from studio_tui.state.db import StateDB
from tests.bench.doors import claiming, opening
from tests.bench.measure import Line, Watch, median, report
from tests.bench.peer import Daemon, build_home, daemon, touch_home
from tests.bench.questions import Question, questions_of
from tests.bench.raw_reads import Raw

FLAT: Final = 1.5
WORST: Final = 0.03
LONG: Final = 2.0
_SECONDS: Final = 8.0
"""A question is not asked again once all sides together took that long."""
_TINY: Final = {
    "messages-per-session": 4,
    "giant": 900,
    "tools": 20,
    "schedules": 8,
    "schedule-runs": 200,
    "shows": 3,
    "plays": 2,
    "definitions": 6,
    "definition-versions": 12,
    "artifacts": 5,
    "run-dirs": 2,
}

Side = Callable[[], Awaitable[object]]


@dataclass
class Taken:
    """Medians of one question, in ms."""

    small: float
    large: float
    sqlite: float
    hop: float
    peer: float | None = None
    question: Question = field(kw_only=True)

    def lines(self) -> Iterator[Line]:
        """Ratios and what they should be."""
        name = self.question.name
        if self.question.raw_aim is None:
            hops = self.question.statements
            yield Line(name, self.large, 3 * self.sqlite + hops * self.hop, "ms", f"3 x sqlite3 + {hops} x SELECT 1", 1.0)
        else:
            yield Line(name, self.large, self.sqlite, "ms", "sqlite3", self.question.raw_aim)
        yield Line(name, self.large, self.small, "ms", "ours on the small home", FLAT if self.question.page else None)
        if self.peer is not None:
            yield Line(name, self.large, self.peer, "ms", "li studio", self.question.peer_aim)


async def measure(small: Path, large: Path, pairs: int, running: Daemon | None, watch: Watch) -> list[Taken]:
    """Ask everything of both homes, in turns."""
    async with _opened(small) as of_small, _opened(large) as of_large, _hop(large) as hop:
        taken: list[Taken] = []
        for first, question in zip(of_small, of_large, strict=True):
            await _must_agree(first, None)
            await _must_agree(question, running)
            sides = {"small": first.ours, "large": question.ours, "sqlite": _later(question.raw), "hop": hop}
            if running is not None and question.peer is not None:
                sides["peer"] = _later(lambda peer=question.peer: running.get(f"/api/{peer[0]}"))  # type: ignore[misc]
            taken.append(Taken(**await _take_turns(sides, pairs, watch), question=question))
        return taken


@contextlib.asynccontextmanager
async def _opened(home: Path) -> AsyncIterator[list[Question]]:
    raw = Raw(home / "state.db")
    async with StateDB(home / "state.db") as db:
        yield questions_of(home, db, raw)
    raw.close()


@contextlib.asynccontextmanager
async def _hop(home: Path) -> AsyncIterator[Side]:
    engine = create_async_engine(f"sqlite+aiosqlite:///file:{home}/state.db?mode=ro&uri=true")

    async def hop() -> None:
        async with engine.connect() as connection:
            (await connection.execute(text("SELECT 1"))).all()

    yield hop
    await engine.dispose()


async def _must_agree(question: Question, running: Daemon | None) -> None:
    ours = list(await question.ours())
    answers = {"sqlite3": list(question.raw())}
    if running is not None and question.peer is not None:
        path, pick = question.peer
        answers["li studio"] = list(pick(json.loads(running.get(f"/api/{path}"))))
    for who, answer in answers.items():
        if answer != ours:
            raise SystemExit(f"{question.name}: {who} answers {answer[:3]}… ({len(answer)}), we {ours[:3]}… ({len(ours)})")


def _later(ask: Callable[[], object]) -> Side:
    async def side() -> None:
        ask()

    return side


async def _take_turns(sides: dict[str, Side], pairs: int, watch: Watch) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in sides}
    until = time.perf_counter() + _SECONDS
    for turn in range(pairs):
        for name, side in sides.items():
            begun = watch()
            await side()
            taken[name].append(watch() - begun)
        if turn >= 4 and time.perf_counter() > until:
            break
    return {name: median(values) * 1e3 for name, values in taken.items()}


def across(taken: list[Taken]) -> Iterator[Line]:
    """What holds of several questions together."""
    by_name = {one.question.name: one for one in taken}
    longest, short = by_name["longest transcript, newest 20"], by_name["transcript of 20 messages"]
    yield Line("longest transcript, newest 20", longest.large, short.large, "ms", "a transcript of 20", LONG)
    asked = [one for one in taken if one.peer is not None and one.question.page]
    if asked:
        worst = max(one.large for one in asked)
        yield Line("dearest page", worst, max(one.peer or 0.0 for one in asked), "ms", "li studio's dearest", WORST)


async def run(small: Path, large: Path, pairs: int, watch: Watch, *, with_peer: bool) -> None:
    """Measure and print."""
    with contextlib.ExitStack() as stack:
        running = stack.enter_context(daemon(large)) if with_peer else None
        if running is not None:
            running.wait("/api/runs/?per_page=20")
        taken = await measure(small, large, pairs, running, watch)
    lines = [line for one in taken for line in one.lines()]
    report([*lines, *across(taken), *await opening(large, pairs, watch), *await claiming(pairs, watch)])


def smoke(folder: Path) -> None:
    """Everything once, on two homes of nothing; raises when answers differ."""
    sizes = [f"--{name}={count}" for name, count in _TINY.items()]
    small, large = (build_home(folder / f"h{count}", f"--sessions={count}", *sizes) for count in (40, 80))
    asyncio.run(run(small, large, 1, time.perf_counter, with_peer=False))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("homes", nargs="*", type=Path, metavar="HOME")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--peer", action="store_true", help="ask li studio on the large home as well")
    parser.add_argument("--cpu", action="store_true", help="count the processors' work, on a machine that others use; no peer")
    parser.add_argument("--smoke", action="store_true", help="ask everything once, on tiny homes")
    options = parser.parse_args()
    if options.smoke:
        with tempfile.TemporaryDirectory() as folder:
            smoke(Path(folder))
        return
    if len(options.homes) != 2:
        parser.error("name a small home and a large one")
    small, large = options.homes
    for home in (small, large):
        touch_home(home)
    watch = time.process_time if options.cpu else time.perf_counter
    asyncio.run(run(small, large, options.pairs, watch, with_peer=options.peer and not options.cpu))


if __name__ == "__main__":
    main()
