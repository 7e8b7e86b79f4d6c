"""Upkeep of the store on both databases."""

from __future__ import annotations

from studio_tui.state.db import StateDB
from studio_tui.state.upkeep import Upkeep


async def test_what_is_done_by_us_on_a_file_is_done_by_a_server_itself(db: StateDB) -> None:
    upkeep = Upkeep(db)
    on_a_file = db.dialect == "sqlite"
    assert (await upkeep.integrity(limit=5)) == (() if on_a_file else None)
    assert ((await upkeep.checkpoint("PASSIVE")) is not None) == on_a_file
    assert (upkeep.size_bytes() is not None) == on_a_file
    await upkeep.vacuum()
