"""What the operations need from the outside, shaped by capability (ADR-0078 D3).

Ports speak in domain records. Adapters raise only the errors of :mod:`studio_tui.application.errors`; those that read a store
raise :class:`StateUnavailable` when it cannot answer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from studio_tui.domain.definitions import FileDefinition, VersionRecord, WorkflowRecord
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.domain.runs import BranchRecord, MessageWindow, RunRecord, TransitionRecord
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord
from studio_tui.domain.shows import ShowRecord

if TYPE_CHECKING:
    from studio_tui.application.models.state import MigrationPlan, MigrationReport, ProgressListener


class Clock(Protocol):
    """Reads the time."""

    def now(self) -> float:
        """Epoch seconds."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...


# --- runs -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Conditions on runs, all of which must hold. ``status`` holds stored statuses; ``None`` inside it is SQL NULL."""

    status: frozenset[str | None] = frozenset()
    kinds: frozenset[str | None] = frozenset()
    project: str | None = None
    project_is_null: bool = False
    tags: tuple[str, ...] = ()
    playbook: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RunSlice:
    """Runs in order (newest activity first) and whether more follow in the direction asked for."""

    runs: tuple[RunRecord, ...]
    more: bool


class RunReadPort(Protocol):
    """Reads runs. Children of engine runs are never listed (lionagi 0.36)."""

    async def list_runs(self, where: RunFilter, *, after: tuple[float, str] | None, backwards: bool, limit: int) -> RunSlice:
        """A keyset page by ``(updated_at, id)`` descending; ``after`` is the last key of the page before.

        Where that row's time could not be read the key's time is 0, and what is stored under its id counts instead.
        With ``backwards`` the page that stands before ``after`` (or, without it, the oldest page), still newest first.
        """
        ...

    async def get_runs(self, run_ids: Sequence[str]) -> tuple[RunRecord, ...]:
        """The runs of these ids that exist, in no order."""
        ...

    async def find_run_ids(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """Ids that begin with ``prefix``, taken literally."""
        ...

    async def count_newer(self, where: RunFilter, than: tuple[float, str], *, limit: int) -> int:
        """How many runs stand before this key, counted up to ``limit``."""
        ...

    async def approximate_count(self) -> int:
        """About how many runs there are, from an index and without reading rows."""
        ...

    async def branches(self, run_id: str) -> tuple[BranchRecord, ...]:
        """The branches of a run in the order of their creation."""
        ...

    async def transitions(self, entity_type: str, entity_id: str, *, limit: int) -> tuple[TransitionRecord, ...]:
        """The status history of one entity, oldest first; the newest ``limit`` of it."""
        ...

    async def runs_of_invocation(self, invocation_id: str, *, limit: int) -> tuple[RunRecord, ...]:
        """The runs that one invocation started, oldest first."""
        ...

    async def firing_of_invocation(self, invocation_id: str) -> tuple[FiringRecord, str | None] | None:
        """The firing that made this invocation, and the name of its schedule."""
        ...

    async def invocation_skill(self, invocation_id: str) -> str | None:
        """The ``skill`` text of an invocation."""
        ...


class MessageReadPort(Protocol):
    """Reads transcripts by windows of their stored id lists."""

    async def tail(self, progression_id: str, *, limit: int) -> MessageWindow:
        """The newest messages."""
        ...

    async def before(self, progression_id: str, position: int, *, limit: int) -> MessageWindow:
        """The messages that end at ``position``."""
        ...

    async def after(self, progression_id: str, position: int, *, limit: int) -> MessageWindow:
        """The messages that begin at ``position``; empty when nothing was added."""
        ...

    async def by_ids(self, message_ids: Sequence[str]) -> MessageWindow:
        """These messages in this order (a branch's system message stands outside its progression)."""
        ...


# --- schedules --------------------------------------------------------------------------------------------------------


class ScheduleReadPort(Protocol):
    """Reads schedules and firings."""

    async def list_schedules(
        self, *, enabled: bool | None, text: str | None, after: tuple[str, str] | None, limit: int
    ) -> tuple[ScheduleRecord, ...]:
        """Schedules by ``(name, id)`` ascending, after this key; ask for one more than needed to know whether more follow."""
        ...

    async def get_schedule(self, schedule_id: str) -> ScheduleRecord | None:
        """One schedule by id."""
        ...

    async def find_schedules(self, name_or_prefix: str, *, limit: int) -> tuple[ScheduleRecord, ...]:
        """The schedule of exactly this name or id, else those whose id or name begins with it, taken literally."""
        ...

    async def recent_firings(self, schedule_ids: Sequence[str], *, each: int) -> Mapping[str, tuple[FiringRecord, ...]]:
        """The newest ``each`` depth-0 rows of each schedule, newest first, without output and context."""
        ...

    async def firings(self, schedule_id: str, *, before: tuple[float, str] | None, limit: int) -> tuple[FiringRecord, ...]:
        """Firings by ``(fired_at, id)`` descending with their sessions' ids."""
        ...

    async def get_firing(self, firing_id: str) -> FiringRecord | None:
        """One firing by id."""
        ...

    async def executed_counts(self, schedule_ids: Sequence[str]) -> Mapping[str, int]:
        """Executed depth-0 firings over each schedule's life."""
        ...

    async def running_counts(self, schedule_ids: Sequence[str]) -> Mapping[str, int]:
        """Firings of each schedule that run now; a schedule without any may be left out.

        Not the same as counting them among the newest: a long firing is pushed out of those by the skips that follow it.
        """
        ...


@dataclass(frozen=True, slots=True)
class NewSchedule:
    """A schedule to insert: column values by name (JSON columns as Python values), ready for the store."""

    values: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ActProvenance:
    """Who made a change to a schedule's definition, and from where (``status_transitions.metadata.provenance``)."""

    origin: str
    actor: str | None = None
    cwd: str | None = None


class ScheduleWritePort(Protocol):
    """Changes schedules; each change writes its history row in the same transaction."""

    async def create_schedule(self, new: NewSchedule, *, now: float, by: ActProvenance) -> ScheduleRecord:
        """Insert a schedule. Raises :class:`Conflict` when the name is taken."""
        ...

    async def set_enabled(
        self,
        schedule_id: str,
        *,
        enabled: bool,
        next_fire_at: float | None,
        expected_updated_at: float | None,
        reason_code: str,
        reason: str | None,
        now: float,
        by: ActProvenance,
    ) -> ScheduleRecord:
        """Turn a schedule on or off and store its next instant.

        Raises :class:`NotFound`, and :class:`Conflict` when ``expected_updated_at`` is given and is not the stored value.
        """
        ...


# --- firing -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One firing about to be launched: what is inserted when its claim succeeds.

    ``claimed`` is the ``next_fire_at`` that the claim compares with (``None`` for a manual firing, which claims no instant);
    ``next_fire_at`` is what it becomes; ``fired_at`` is in epoch seconds.
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


@dataclass(frozen=True, slots=True)
class Refusal:
    """A due instant that is not launched and leaves a terminal row: a skip, or a failure before launch."""

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


class SchedulerStateService(Protocol):
    """The scheduler's narrow persistence seam (ADR-0077 D6). Each method is one short read or one transaction."""

    async def next_due_at(self) -> float | None:
        """The earliest stored instant of an enabled cron, interval or at schedule."""
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

    async def arm(
        self, schedule: ScheduleRecord, next_fire_at: float | None, *, zone: str | None, zone_source: str | None
    ) -> bool:
        """Store the next instant (and, for cron, the effective zone) if the stored one is still the one in ``schedule``."""
        ...

    async def claim(self, occurrence: Occurrence, *, now: float, instead_of: Outcome | None = None) -> bool:
        """Move ``next_fire_at`` and insert invocation, firing and history in one transaction; False if the claim is lost.

        ``instead_of`` ends, in the same transaction, a firing that was claimed and never launched; the claim is lost when that
        one was launched or ended meanwhile.
        """
        ...

    async def refuse(self, refusal: Refusal, *, now: float) -> bool:
        """Move ``next_fire_at`` (when ``advance``) and insert the terminal row with its history; False if the claim is lost."""
        ...

    async def mark_dispatched(self, run_id: str, at: float) -> None:
        """Stamp the instant at which the process existed."""
        ...

    async def finish(self, outcome: Outcome, *, now: float) -> bool:
        """Write the terminal rows of firing and invocation, each guarded on ``running``; False if the firing had ended."""
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


class NotWanted(Exception):
    """A process was not started because nobody wants it any more."""


@dataclass(frozen=True, slots=True)
class LaunchSpec:
    """A process to start: argv, directory, extra environment; its two streams go to files named by ``run_id``.

    ``wanted`` is asked when the launch has been noted, right before the process is started.
    """

    run_id: str
    argv: tuple[str, ...]
    cwd: str
    environment: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    wanted: Callable[[], bool] = field(default=lambda: True, compare=False)


@dataclass(frozen=True, slots=True)
class OutputTail:
    """The end of what a firing wrote, decoded with bad bytes marked, and the full sizes in bytes."""

    stdout: str
    stderr: str
    stdout_bytes: int
    stderr_bytes: int


@dataclass(frozen=True, slots=True)
class LaunchNote:
    """What is known of a launch outside the store. ``at`` is in epoch seconds.

    ``identity`` is ``None`` when the host died between beginning to start the process and noting which one it became.
    ``supervisor`` is the process that waits for it, and ``None`` when it was left to run by itself.
    """

    run_id: str
    at: float
    identity: ProcessIdentity | None
    supervisor: ProcessIdentity | None


@dataclass(frozen=True, slots=True)
class StopReport:
    """What stopping a process group came to.

    ``refused`` says why nothing was signalled; ``killed`` counts the members that TERM did not end; ``left`` are members that
    live on all the same; ``escaped`` are descendants that live on in groups of their own, which we do not signal.
    """

    refused: str | None = None
    killed: int = 0
    left: tuple[int, ...] = ()
    escaped: tuple[int, ...] = ()


class LaunchedProcess(Protocol):
    """A process that we started."""

    @property
    def identity(self) -> ProcessIdentity:
        """What proves that it is ours."""
        ...

    async def wait(self) -> int:
        """Its exit code, as soon as the leader has ended; a death by signal is the negative number."""
        ...

    async def terminate(self, *, grace: float) -> StopReport:
        """TERM to its group, then KILL to what is left after ``grace`` seconds."""
        ...

    def release(self) -> None:
        """Supervise it no longer: it lives on by itself, and its note says that nobody waits for it."""
        ...


class ProcessPort(Protocol):
    """Starts processes and answers whether one lives."""

    async def launch(self, spec: LaunchSpec) -> LaunchedProcess:
        """Start a process in a session of its own.

        Raises :class:`OSError` with the reason when it cannot be started, :class:`NotWanted` when it is not wanted any more.
        """
        ...

    def alive(self, identity: ProcessIdentity) -> bool | None:
        """Whether exactly this process lives; ``None`` when that cannot be known from here."""
        ...

    async def stop(self, identity: ProcessIdentity, *, grace: float) -> StopReport:
        """As :meth:`LaunchedProcess.terminate`, for a process that an earlier host launched."""
        ...


class LaunchNotePort(Protocol):
    """What was noted beside the store when firings were launched, so that the next host can follow them."""

    def recall(self, run_id: str) -> LaunchNote | None:
        """The note of this firing, or ``None`` when nobody here ever began to launch it."""
        ...

    def forget(self, run_id: str) -> None:
        """Drop the note: the firing has ended."""
        ...


class RunLogPort(Protocol):
    """Reads what firings wrote."""

    def tail(self, run_id: str, *, limit: int) -> OutputTail | None:
        """The last ``limit`` bytes of each stream, or ``None`` when nothing was kept."""
        ...


# --- files ------------------------------------------------------------------------------------------------------------


class DefinitionFilesPort(Protocol):
    """Reads definition files under their roots. A bad file is a record with ``error``, never an exception."""

    async def list_definitions(self) -> tuple[FileDefinition, ...]:
        """All agents, playbooks and skills without content."""
        ...

    async def read_definition(self, kind: str, name: str) -> FileDefinition | None:
        """One definition with content."""
        ...


class DefinitionHistoryPort(Protocol):
    """Reads the history of file definitions and the workflow rows."""

    async def latest_versions(self) -> Mapping[tuple[str, str], VersionRecord]:
        """The newest version of each ``(kind, name)`` with its content."""
        ...

    async def versions(self, kind: str, name: str, *, limit: int) -> tuple[VersionRecord, ...]:
        """Versions newest first, without content."""
        ...

    async def version(self, kind: str, name: str, number: int) -> VersionRecord | None:
        """One version with content."""
        ...

    async def list_workflows(self) -> tuple[WorkflowRecord, ...]:
        """Workflow definitions by name, without their specs' text being checked."""
        ...

    async def get_workflow(self, name: str) -> WorkflowRecord | None:
        """One workflow by name."""
        ...


class ShowFilesPort(Protocol):
    """Reads shows from disk. An unreadable show or play is a record with ``error``."""

    async def list_shows(self) -> tuple[ShowRecord, ...]:
        """Every show on disk with its plays, without documents."""
        ...

    async def read_show(self, topic: str) -> ShowRecord | None:
        """One show with its plays and documents; ``None`` when it has no directory."""
        ...


class ShowReadPort(Protocol):
    """Reads shows from the store."""

    async def list_shows(self) -> tuple[ShowRecord, ...]:
        """Every show with its plays."""
        ...

    async def get_show(self, topic: str) -> ShowRecord | None:
        """One show with its plays."""
        ...


# --- the rest ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StoreCondition:
    """What the store is and what may be done with it; see ``StoreStatus`` for the modes."""

    mode: Literal["ready", "read_only", "missing", "unavailable"]
    label: str
    reason: str | None = None
    version: str | None = None


class StorePort(Protocol):
    """The store as a whole."""

    def condition(self) -> StoreCondition:
        """How it stands now."""
        ...

    async def create(self) -> None:
        """Make a new, complete store where none is. Raises :class:`Conflict` when there is one."""
        ...

    async def plan(self) -> MigrationPlan:
        """What a migration would change, found out by looking only. Raises :class:`StateUnavailable` when nothing can be read."""
        ...

    async def migrate(self, listen: ProgressListener | None) -> MigrationReport:
        """Bring an older store up to date and open it again, step by step.

        Cancelling the caller stops it between two steps; what is done stays, and the rest can be done later. Raises
        :class:`PermissionDenied` for a store that is not ours to write, :class:`Conflict` when something stands in the way
        (then nothing was changed), :class:`StateUnavailable` when a step fails (then that step was taken back).
        """
        ...


class OverviewReadPort(Protocol):
    """The counts of the header, each from an index."""

    async def count_running(self) -> int:
        """Runs that the store says are running."""
        ...

    async def running_runs(self, *, limit: int) -> tuple[RunRecord, ...]:
        """Runs that the store says are running, for their health."""
        ...

    async def count_failed_since(self, since: float) -> int:
        """Runs that failed since an instant."""
        ...


class ChangeFeed(Protocol):
    """Tells that somebody changed something; never what."""

    def subscribe(self) -> AsyncIterator[frozenset[str]]:
        """Sets of changed topics (``store``, ``definitions``, ``shows``): at most four a second, none while nothing changes."""
        ...

    def nudge(self, topic: str) -> None:
        """Say it ourselves (a refresh asked for by hand)."""
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
    def missed(self) -> tuple[tuple[ScheduleRecord, float], ...]:
        """Due instants that passed while nobody hosted and that wait for the operator's word."""
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


class SidecarPort(Protocol):
    """Our own small store beside the home: answers, journal."""

    async def get(self, key: str) -> str | None:
        """A kept answer."""
        ...

    async def put(self, key: str, value: str) -> None:
        """Keep an answer."""
        ...

    async def journal(self, *, at: float, act: str, target: str, result: str, detail: Mapping[str, object]) -> None:
        """Note what was done."""
        ...
