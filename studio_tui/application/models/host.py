"""Who fires schedules, what the store is, and the five facts of the header."""

from __future__ import annotations

from typing import Literal

from studio_tui.application.models.common import Age, ContractModel, Epoch, ScheduleId

HostState = Literal["undecided", "hosting", "standby", "held", "stalled", "off"]


class HostStatus(ContractModel):
    """The scheduler of this store as this process sees it.

    ``undecided``: nobody has said yet whether this home's scheduler may run here; nothing fires.
    ``standby``: another process hosts it (``holder``), or the peer's daemon runs; this one takes over when that ends. With a
    ``rival`` it is somebody who goes by no lease: this process fires nothing until a person decides.
    ``held``: a person holds all firing, until ``held_until``, or has yet to say what becomes of ``missed`` instants.
    ``off``: the operator said no, or the store is read-only. ``pass_age`` is the time since the last evaluation pass.
    """

    state: HostState
    holder: str | None = None
    reason: str | None = None
    pass_age: Age | None = None
    restarts: int = 0
    next_due_at: Epoch | None = None
    running: int = 0
    slots: int = 0
    missed: tuple[MissedFire, ...] = ()
    held_until: Epoch | None = None
    rival: str | None = None


class HoldResult(ContractModel):
    """A hold that begins (``until`` set) or was released, and what will come due while it lasts, the earliest first.

    ``more`` is how many schedules come due besides those listed.
    """

    until: Epoch | None = None
    due: tuple[MissedFire, ...] = ()
    more: int = 0


class MissedFire(ContractModel):
    """A due instant that passed while nobody hosted, and what its schedule's policy will make of it."""

    schedule_id: ScheduleId
    name: str
    due_at: Epoch
    policy: Literal["skip", "run_once"]


class StoreStatus(ContractModel):
    """Which store this is and what may be done with it.

    ``mode``: ``ready``, ``read_only`` (``reason`` says why), ``missing`` (no store yet; nothing was made), ``unavailable``.
    ``label`` never holds a secret. ``waiting``: a change of ours waits for another program that writes to the store.
    """

    mode: Literal["ready", "read_only", "missing", "unavailable"]
    label: str
    home: str
    reason: str | None = None
    version: str | None = None
    waiting: bool = False


class AttentionCount(ContractModel):
    """How many things of one kind need a person."""

    kind: str
    count: int


class Overview(ContractModel):
    """The figures of the header."""

    running: int
    attention: tuple[AttentionCount, ...]

    @property
    def attention_total(self) -> int:
        """All things that need a person."""
        return sum(item.count for item in self.attention)


class Check(ContractModel):
    """One line of the doctor."""

    name: str
    outcome: Literal["ok", "warn", "fail", "skip"]
    detail: str
    fix: str | None = None


HostStatus.model_rebuild()
HoldResult.model_rebuild()
