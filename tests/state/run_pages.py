"""How tests go through a list of runs."""

from __future__ import annotations

from studio_tui.application.ports import RunFilter
from studio_tui.state.stores.runs import RunStore

EVERYTHING = RunFilter()


async def listed(runs: RunStore, where: RunFilter = EVERYTHING, limit: int = 100) -> list[str]:
    return [run.run_id for run in (await runs.list_runs(where, after=None, backwards=False, limit=limit)).runs]


async def walked(runs: RunStore, where: RunFilter, *, limit: int, backwards: bool = False) -> list[str]:
    """Every id, page by page, with the keys that a caller can make of the records: 0 for a time that it could not read."""
    found: list[str] = []
    after: tuple[float, str] | None = None
    for _ in range(200):
        page = await runs.list_runs(where, after=after, backwards=backwards, limit=limit)
        ids = [run.run_id for run in page.runs]
        found = [*ids, *found] if backwards else [*found, *ids]
        if not page.more:
            return found
        assert len(ids) == limit
        edge = page.runs[0 if backwards else -1]
        after = (edge.updated_at if edge.updated_at is not None else 0.0, edge.run_id)
    raise AssertionError("the pages do not end")
