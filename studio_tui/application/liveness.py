"""Which of some running runs still have their process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from studio_tui.application.ports import ProcessPort
from studio_tui.domain.identity import ProcessIdentity, recorded_identity
from studio_tui.domain.runs import RunRecord


async def living(runs: Iterable[RunRecord], processes: ProcessPort) -> Mapping[str, bool | None]:
    """By run id, whether the recorded process lives; a run that is not listed cannot be judged.

    Only runs that the store says are running are looked up, in a thread: each look reads the process table.
    """
    identities: dict[str, ProcessIdentity] = {}
    for run in runs:
        identity = recorded_identity(run.metadata) if run.status == "running" else None
        if identity is not None:
            identities[run.run_id] = identity
    if not identities:
        return {}
    return await asyncio.to_thread(lambda: {run_id: processes.alive(identity) for run_id, identity in identities.items()})
