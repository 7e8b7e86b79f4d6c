"""The sidecar keeps answers and a journal, is never made by looking, and never stops anybody."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

from studio_tui.sidecar.store import Sidecar


async def test_looking_makes_nothing(tmp_path: Path) -> None:
    sidecar = Sidecar(tmp_path / "studio-tui")
    assert await sidecar.get("scheduler.host") is None
    assert await sidecar.entries(limit=5) == ()
    assert not (tmp_path / "studio-tui").exists()


async def test_an_answer_is_there_at_the_next_start_and_private(tmp_path: Path) -> None:
    await Sidecar(tmp_path / "studio-tui").put("scheduler.host", "no")
    await Sidecar(tmp_path / "studio-tui").put("scheduler.host", "yes")
    assert await Sidecar(tmp_path / "studio-tui").get("scheduler.host") == "yes"
    assert stat.S_IMODE((tmp_path / "studio-tui").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "studio-tui" / "sidecar.db").stat().st_mode) == 0o600


async def test_the_journal_holds_what_was_done_newest_first(tmp_path: Path) -> None:
    sidecar = Sidecar(tmp_path)
    for number in range(3):
        await sidecar.journal(at=float(number), act="fire", target=f"s{number}", result="done", detail={"n": number})
    assert [(at, target) for at, _, target, _, _ in await sidecar.entries(limit=2)] == [(2.0, "s2"), (1.0, "s1")]


async def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    one, other = Sidecar(tmp_path), Sidecar(tmp_path)
    await asyncio.gather(
        *(side.journal(at=0.0, act="a", target="t", result="r", detail={}) for side in (one, other) for _ in range(20))
    )
    assert len(await one.entries(limit=100)) == 40
    assert one.unwritable is None


async def test_where_nothing_can_be_written_answers_last_as_long_as_the_process(tmp_path: Path) -> None:
    (tmp_path / "studio-tui").write_text("a file where the directory should be")
    sidecar = Sidecar(tmp_path / "studio-tui")
    await sidecar.put("scheduler.host", "yes")
    assert await sidecar.get("scheduler.host") == "yes"
    assert sidecar.unwritable


async def test_a_damaged_file_is_said_and_survived(tmp_path: Path) -> None:
    (tmp_path / "sidecar.db").write_bytes(b"this is no database" * 100)
    sidecar = Sidecar(tmp_path)
    assert await sidecar.get("scheduler.host") is None
    assert sidecar.unwritable
    await sidecar.journal(at=0.0, act="a", target="t", result="r", detail={})
    assert (tmp_path / "sidecar.db").read_bytes().startswith(b"this is no database")
