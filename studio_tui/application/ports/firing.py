"""What firing needs of the store, and the right to fire (ADR-0077 D6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from studio_tui.application.ports.polls import CursorMove, PollStatePort, RefusedEvent
from studio_tui.application.ports.thresholds import ThresholdPort
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.domain.runs import RunRecord
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One firing about to be launched: what is inserted when its claim succeeds.

    ``claimed`` is the ``next_fire_at`` that the claim compares with (``None`` for a manual firing, which claims no instant);
    ``next_fire_at`` is what it becomes; ``fired_at`` is in epoch seconds. The firing of a poll's event claims its place behind
    the bookmark instead: ``cursor``.
    """

    run_id: str
    invocation_id: str
    schedule: ScheduleRecord
    argv: tuple[str, ...]
    prompt: str | None
    trigger_context: Mapping[str, object]
    fired_at: float
    claimed: float | None
    next_fire_at: float | None
    reason_code: str = "schedule.fired.due"
    chain_parent_id: str | None = None
    chain_depth: int = 0
    cursor: CursorMove | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """What must still hold in the very transaction of a claim: the gates were asked before, and another process may have fired.

    ``alone``: no firing of the schedule runs; ``max_runs``: at most so many executed ones over its life; ``max_fires``: at most
    so many since ``since`` (epoch seconds); ``slots``: at most so many running ones of all; ``budget_usd`` and ``budget_tokens``:
    its runs have reported less than that. ``None`` and 0 are no limit.
    """

    alone: bool = False
    max_runs: int | None = None
    max_fires: int | None = None
    since: float = 0.0
    slots: int = 0
    budget_usd: float | None = None
    budget_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A due instant or an event that is not launched and leaves a terminal row: a skip, or a failure before launch."""

    run_id: str
    schedule: ScheduleRecord
    status: Literal["skipped", "failed"]
    reason_code: str
    reason: str
    trigger_context: Mapping[str, object]
    at: float
    claimed: float | None
    next_fire_at: float | None
    advance: bool = True
    event: RefusedEvent | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a firing ended. Statuses are those of ``schedule_runs`` and of ``invocations``; times are epoch seconds."""

    run_id: str
    invocation_id: str | None
    status: str
    invocation_status: str
    reason_code: str
    invocation_reason_code: str
    reason: str
    ended_at: float
    exit_code: int | None = None
    error_detail: str | None = None
    source: str = "executor"
    actor: str | None = None
    child_statuses: tuple[str, ...] = ()
    child_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Spend:
    """What a schedule's firings have reported so far; ``unreported`` counts runs without a cost."""

    usd: float
    tokens: int
    unreported: int


class SchedulerStateService(ThresholdPort, PollStatePort, Protocol):
    """The scheduler's narrow persistence seam (ADR-0077 D6). Each method is one short read or one transaction."""

    async def next_due_at(self) -> float | None:
        """The earliest stored instant of an enabled schedule, polls of GitHub among them."""
        ...

    async def list_due(self, now: float, *, limit: int) -> tuple[ScheduleRecord, ...]:
        """Enabled cron, interval and at schedules whose stored instant is at or before ``now``, earliest first."""
        ...

    async def list_unarmed(self) -> tuple[ScheduleRecord, ...]:
        """Enabled cron and interval schedules without a stored instant."""
        ...

    async def list_armed_cron(self) -> tuple[ScheduleRecord, ...]:
        """Enabled cron schedules, for the recompute and zone stamp at start."""
        ...

    async def get_schedule(self, schedule_id: str) -> ScheduleRecord | None:
        """One schedule by id."""
        ...

    async def get_firing(self, run_id: str) -> FiringRecord | None:
        """One firing by id."""
        ...

    async def list_fired_since(self, schedule_id: str, since: float, *, limit: int) -> tuple[FiringRecord, ...]:
        """The newest depth-0 firings of a schedule since an instant, newest first."""
        ...

    async def arm(
        self, schedule: ScheduleRecord, next_fire_at: float | None, *, zone: str | None, zone_source: str | None
    ) -> bool:
        """Store the next instant (and, for cron, the effective zone) if the stored one is still the one in ``schedule``."""
        ...

    async def claim(
        self, occurrence: Occurrence, *, now: float, limits: Limits | None = None, instead_of: Outcome | None = None
    ) -> bool:
        """Move ``next_fire_at`` and insert invocation, firing and history in one transaction; False if the claim is lost.

        It is lost when the instant is not the stored one, or a limit would be passed. ``instead_of`` ends, in the same
        transaction, a firing that was claimed and never launched; the claim is lost when that one was launched or ended
        meanwhile.
        """
        ...

    async def refuse(self, refusal: Refusal, *, now: float) -> bool:
        """Move ``next_fire_at`` (when ``advance``) and insert the terminal row with its history; False if the claim is lost."""
        ...

    async def mark_dispatched(self, run_id: str, at: float) -> None:
        """Stamp the instant at which the process existed."""
        ...

    async def finish(self, outcome: Outcome, *, now: float, step: Occurrence | None = None) -> bool:
        """Write the terminal rows of firing and invocation, each guarded on ``running``; False if the firing had ended.

        ``step`` is the chain step that follows: inserted in the same transaction, unless the firing had ended.
        """
        ...

    async def disable(self, schedule_id: str, *, reason_code: str, reason: str, now: float) -> bool:
        """Turn a schedule off on the scheduler's own account; False if it was off."""
        ...

    async def count_running(self, schedule_id: str | None) -> int:
        """Firings that run now, of one schedule or of all, whoever started them."""
        ...

    async def count_schedule_runs(self, schedule_id: str) -> int:
        """Executed depth-0 firings over the schedule's life."""
        ...

    async def count_fired_since(self, schedule_id: str, since: float) -> int:
        """Executed depth-0 firings since an instant."""
        ...

    async def sum_schedule_spend(self, schedule_id: str) -> Spend:
        """Reported spend of the runs of the schedule's firings."""
        ...

    async def list_sessions_for_invocation(self, invocation_id: str) -> tuple[RunRecord, ...]:
        """The runs that an invocation started."""
        ...

    async def list_undispatched(self, *, older_than: float) -> tuple[FiringRecord, ...]:
        """Running firings of schedules that were committed before ``older_than`` and never launched."""
        ...

    async def list_dispatched(self) -> tuple[FiringRecord, ...]:
        """Running firings of schedules that were launched."""
        ...

    async def project_path(self, project: str) -> str | None:
        """The registered path of a project."""
        ...


@dataclass(frozen=True, slots=True)
class HostRecord:
    """Who hosts the scheduler of a store. Times are epoch seconds."""

    identity: ProcessIdentity
    label: str
    since: float
    seen_at: float


class LeasePort(Protocol):
    """The right to look for due schedules: held by at most one process per store, freed by the kernel when it dies."""

    @property
    def problem(self) -> str | None:
        """Why it cannot be taken by anybody (no permission, say), in words; ``None`` when it is free or merely held."""
        ...

    def acquire(self) -> bool:
        """Take the lease if it is free; never waits."""
        ...

    def holds(self) -> bool:
        """Whether this process holds it still; checked again right before each launch."""
        ...

    def beat(self) -> None:
        """Note that the holder is alive."""
        ...

    def holder(self) -> HostRecord | None:
        """Who holds it, as far as can be read."""
        ...

    def release(self) -> None:
        """Give it up; harmless when not held."""
        ...


class SchedulerHostPort(Protocol):
    """The scheduler as the console sees it."""

    @property
    def state(self) -> str:
        """One of the words of ``HostState``."""
        ...

    @property
    def holder(self) -> HostRecord | None:
        """The other process that hosts, when one does."""
        ...

    @property
    def reason(self) -> str | None:
        """Why the state is what it is, in words, where that is not plain."""
        ...

    @property
    def last_pass_at(self) -> float | None:
        """When schedules were last evaluated, on the monotonic clock."""
        ...

    @property
    def restarts(self) -> int:
        """How often the loop had to be started again."""
        ...

    @property
    def next_due_at(self) -> float | None:
        """The instant that the loop sleeps to, in epoch seconds."""
        ...

    @property
    def slots(self) -> int:
        """How many firings may run at once; 0 is no limit."""
        ...

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of the firings that this process launched and that run now."""
        ...

    @property
    def rival(self) -> str | None:
        """What speaks for somebody else who fires this store's schedules; this process holds its own firing meanwhile."""
        ...

    @property
    def held_until(self) -> float | None:
        """When firing goes on that the operator holds, in epoch seconds; ``None`` while nothing holds it."""
        ...

    @property
    def missed(self) -> tuple[tuple[ScheduleRecord, float], ...]:
        """Due instants that passed while nobody hosted and that wait for the operator's word."""
        ...

    def poll_trouble(self, schedule_id: str) -> str | None:
        """What went wrong with the last poll of a schedule on GitHub, in words, as far as this process polls."""
        ...

    async def decide(self, *, host: bool) -> None:
        """Answer whether this process may host the scheduler of this store."""
        ...

    async def settle_missed(self, *, apply_policies: bool) -> None:
        """Apply each policy to the missed instants, or pass over all of them as skipped."""
        ...

    async def fire_now(self, schedule: ScheduleRecord) -> str:
        """Launch one firing by hand; the id of its row. Raises the closed errors when a gate refuses it."""
        ...

    def wake(self) -> None:
        """Look again now: a schedule was changed."""
        ...
