"""What a run's artifact contract came to (lionagi 0.36: contract and verification columns of a session)."""

from __future__ import annotations

from studio_tui.application.wellformed import mended
from studio_tui.domain.runs import RunRecord, effective_status


def artifact_status(run: RunRecord) -> str | None:
    """``passed``, ``failed``, ``warning`` or ``skipped`` as recorded.

    Without a verdict it is ``pending`` while a run with expectations goes on, ``not_recorded`` after any run has ended.
    """
    stored = (run.verification or {}).get("status")
    if isinstance(stored, str) and stored:
        return mended(stored)
    if effective_status(run.status) != "running":
        return "not_recorded"
    return "pending" if (run.contract or {}).get("expected") else None


def missing_required(run: RunRecord) -> tuple[str, ...]:
    """Ids of the required artifacts that were not there."""
    listed = (run.verification or {}).get("missing_required")
    if not isinstance(listed, list | tuple):
        return ()
    return tuple(_identifier(entry) for entry in listed)


def _identifier(entry: object) -> str:
    return mended(str(entry.get("id", entry)) if isinstance(entry, dict) else str(entry))
