"""How single firings ended, as far as a list of schedules looks at them."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class HasOutcome(Protocol):
    """What health and outcome strips are made of. Whole firing records are outcomes too."""

    @property
    def run_id(self) -> str:
        """The firing's id."""
        ...

    @property
    def status(self) -> str:
        """The stored status."""
        ...

    @property
    def fired_at(self) -> float | None:
        """When it was fired, in epoch seconds; ``None`` where that cannot be read."""
        ...

    @property
    def reason_code(self) -> str | None:
        """Why it has that status."""
        ...


class FiringOutcome(NamedTuple):
    """The outcome of one firing. A screen of schedules reads hundreds of them."""

    run_id: str
    status: str
    fired_at: float | None
    reason_code: str | None
