"""Engine runs and the definitions of engines, as the store knows them (lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ENGINE_KINDS: Final = ("research", "review", "coding", "hypothesis", "planning")
ENGINE_STATUSES: Final = ("running", "completed", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class EngineRunRecord:
    """One engine run. Times are epoch seconds.

    ``spec`` (what it was given) and ``error`` are ``None`` in lists; ``has_error`` tells there that one is kept. ``outcome`` is
    its bounded end report.
    """

    run_id: str
    kind: str
    status: str
    started_at: float | None
    ended_at: float | None
    session_id: str | None
    invocation_id: str | None
    signal_session_id: str | None
    parent_session_id: str | None
    outcome: Mapping[str, object] | None
    export_dir: str | None
    has_error: bool
    spec: Mapping[str, object] | None = None
    error: str | None = None
    defects: tuple[str, ...] = ()

    @property
    def shown_session_id(self) -> str | None:
        """The run whose screen shows this one: its own, else its parent's, else what old rows name."""
        return self.signal_session_id or self.parent_session_id or self.session_id


@dataclass(frozen=True, slots=True)
class EngineDefinitionRecord:
    """One definition of an engine. Times are epoch seconds."""

    definition_id: str
    name: str
    kind: str
    model: str | None
    max_depth: int | None
    max_agents: int | None
    options: Mapping[str, object] | None
    description: str | None
    created_at: float | None
    updated_at: float | None
    defects: tuple[str, ...] = ()
