"""Every store that writes, on one database, and each of its acts once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from studio_tui.application.ports import Occurrence, Outcome, Refusal
from studio_tui.application.ports.artifacts import ArtifactDraft
from studio_tui.application.ports.attention import Decision
from studio_tui.application.ports.definition_writes import VersionDraft, WorkflowDraft
from studio_tui.application.ports.lifecycle import StatusChange
from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.application.ports.projects import ProjectChanges
from studio_tui.application.ports.show_writes import NewPlay, NewShow
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.db import StateDB
from studio_tui.state.stores.admin_events import AdminEventStore
from studio_tui.state.stores.approvals import ApprovalStore
from studio_tui.state.stores.artifacts import ArtifactStore
from studio_tui.state.stores.attention import AttentionStore
from studio_tui.state.stores.controls import ControlStore
from studio_tui.state.stores.definition_writes import DefinitionVersionStore
from studio_tui.state.stores.outbox import OutboxStore
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from studio_tui.state.stores.projects import ProjectStore
from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
from studio_tui.state.stores.scheduling import SchedulingStore
from studio_tui.state.stores.show_writes import ShowWriteStore
from studio_tui.state.stores.signals import SignalStore
from studio_tui.state.stores.statuses import StatusStore
from studio_tui.state.stores.tags import TagStore
from studio_tui.state.stores.workflow_writes import WorkflowWriteStore
from tests.builders import NOW, a_play, a_run, a_show, an_invocation
from tests.fakes.clock import SteeredClock
from tests.interop.fired_store import OPERATOR, new_schedule
from tests.state.ledger_rows import a_team

SCHEDULE, FIRING, SHOW, PLAY, TEAM, LAUNCH = "a" * 12, "f" * 12, "show", "play", "team", "1" * 12
ENDED = "run.completed.ok"

RUN = "r1"
METADATA = {"pid": 4110, "flow_control_poller": "active", "agents": [{"id": "ä"}]}


Act = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Writers:
    """Every store that writes."""

    db: StateDB
    clock: SteeredClock

    async def do_everything(self) -> None:
        """Each act once; none of them misses."""
        for act in await self.acts():
            assert await act() is not False

    async def acts(self) -> list[Act]:
        """Each writing method once; some need what earlier ones left, so they are done in order."""
        return [*await self._ledger_acts(), *self._status_acts(), *self._schedule_acts()]

    def _status_acts(self) -> list[Act]:
        """What is made in a show, and what ends."""
        statuses, shows = StatusStore(self.db, self.clock), ShowWriteStore(self.db, self.clock)

        def act(entity: str, entity_id: str, status: str, reason_code: str) -> Act:
            return lambda: statuses.change(StatusChange(entity, entity_id, status, reason_code, "over", "admin", "op"))

        return [
            lambda: shows.add_show(NewShow("made", "/shows/made")),
            lambda: shows.add_play(NewPlay(SHOW, "made", depends_on=("build",), session_id=RUN)),
            act("show", SHOW, "completed", "show.completed.all_plays_merged"),
            act("play", PLAY, "merged", "play.merged.ok"),
            act("team", TEAM, "archived", "team.archived.operator"),
            act("invocation", LAUNCH, "completed", ENDED),
        ]

    def _schedule_acts(self) -> list[Act]:
        """A schedule from its creation to its deletion, with a firing, a skip and every change."""
        writes, scheduling = ScheduleWriteStore(self.db), SchedulingStore(self.db, self.clock)
        ends = Outcome(FIRING, "i" * 12, "completed", "completed", ENDED, ENDED, "ended", NOW, exit_code=0)

        async def seen() -> ScheduleRecord:
            found = await scheduling.get_schedule(SCHEDULE)
            assert found is not None
            return found

        async def claim() -> object:
            schedule = await seen()
            argv, instants = ("echo", "hällo"), (NOW, schedule.next_fire_at, NOW + 60)
            return await scheduling.claim(Occurrence(FIRING, "i" * 12, schedule, argv, None, {"manual": 1}, *instants), now=NOW)

        async def refuse() -> object:
            schedule = await seen()
            words = ("skipped", "schedule.skipped.overlap", "still running", {"skipped_overlap": True})
            return await scheduling.refuse(Refusal("e" * 12, schedule, *words, NOW, schedule.next_fire_at, NOW + 120), now=NOW)

        async def arm() -> object:
            return await scheduling.arm(await seen(), NOW + 60, zone="UTC", zone_source="host")

        async def patch() -> object:
            schedule = await seen()
            return await writes.patch_schedule(
                SCHEDULE, {"interval_sec": 90}, expected_updated_at=schedule.updated_at or 0, now=NOW
            )

        def switch(enabled: bool, reason_code: str) -> Act:
            given: dict[str, Any] = {"next_fire_at": NOW, "expected_updated_at": None, "reason": "so", "now": NOW, "by": OPERATOR}
            return lambda: writes.set_enabled(SCHEDULE, enabled=enabled, reason_code=reason_code, **given)

        by_limit = "schedule_definition.disabled.max_runs"
        return [
            lambda: writes.create_schedule(new_schedule(SCHEDULE, "echo"), now=NOW, by=OPERATOR),
            arm,
            claim,
            lambda: scheduling.mark_dispatched(FIRING, NOW),
            lambda: scheduling.finish(ends, now=NOW),
            refuse,
            switch(False, "schedule_definition.disabled.manual"),
            switch(True, "schedule_definition.enabled.observed"),
            patch,
            lambda: scheduling.disable(SCHEDULE, reason_code=by_limit, reason="enough", now=NOW),
        ]

    async def _ledger_acts(self) -> list[Act]:
        """The smaller tables."""
        db, clock = self.db, self.clock
        approval, deliver, outbox = ApprovalStore(db, clock), OutboxDeliveryStore(db, clock), OutboxStore(db, clock)
        attention, tags, known = AttentionStore(db, clock), TagStore(db, clock), ProjectStore(db, clock)
        workflows, artifact = WorkflowWriteStore(db, clock), ArtifactStore(db, clock)
        granted, denied = await approval.propose("x", {}), await approval.propose("y", {})
        workflow = await workflows.create_workflow(WorkflowDraft("old", None, {"version": 1}))
        answer = await deliver.enqueue(NewDispatch("k", "x", ack_required=True, max_attempts=1, session_id=RUN))
        changes = ProjectChanges({"path": "/srv"})

        async def deliver_one() -> object:
            return await deliver.failed((await deliver.claim_due(limit=1))[0], "no")

        return [
            lambda: artifact.put_artifact(ArtifactDraft("report", "main", {"n": 1}, session_id=RUN, file_path="a.md")),
            lambda: artifact.put_artifact(ArtifactDraft("report", "main", {"n": 2}, session_id=RUN)),
            lambda: approval.propose("z", {"n": 1}),
            lambda: approval.grant(granted.approval_id),
            lambda: approval.consume(granted.approval_id, action_kind="x", params={}),
            lambda: approval.deny(denied.approval_id, reason_class=None, reason=None),
            lambda: attention.decide(Decision("run:r1", "acknowledged", "failed", "op")),
            lambda: attention.reopen("run:r1", actor="op"),
            lambda: ControlStore(db, clock).send(RUN, "message", text="Go on."),
            lambda: ControlStore(db, clock).send(RUN, "pause"),
            lambda: SignalStore(db, clock).append(RUN, "RunStart", {"n": [1]}),
            lambda: tags.add_tag(RUN, "nightly"),
            lambda: tags.set_label(RUN, "The one", seen=None),
            lambda: known.create_project("web"),
            lambda: known.register_project("web", "git_remote", github="o/web"),
            lambda: known.update_project("web", changes),
            lambda: known.assign_runs("web", [RUN]),
            lambda: known.assign_unassigned("web"),
            lambda: known.delete_project("web"),
            lambda: DefinitionVersionStore(db, clock).append_version(
                VersionDraft("agent", "a", "agents/a.md", "x"), expected_version=0
            ),
            lambda: workflows.create_workflow(WorkflowDraft("new")),
            lambda: workflows.update_workflow(workflow.workflow_id, {"spec": {"a": 1}}, expected_updated_at=NOW),
            deliver_one,
            lambda: deliver.enqueue(NewDispatch("k", "y", {"n": "ä"}, expires_at=NOW + 1)),
            lambda: outbox.retry(answer.dispatch_id),
            lambda: outbox.acknowledge(answer.dispatch_id, answer.ack_token or ""),
            lambda: outbox.purge_older(status="pending", before=None, actor="op"),
            lambda: AdminEventStore(db, clock).note("transition", {"ids": [RUN]}, target_id=None),
        ]


async def all_writers(db: StateDB) -> Writers:
    """The writers, beside a running flow, a run that has ended, a launch, and a show with a play and a team."""
    await a_run(
        db, id=RUN, status="running", invocation_kind="flow", node_metadata=METADATA, last_message_at=NOW - 9, updated_at=NOW - 9
    )
    await a_run(db, id="r2", status="completed", updated_at=NOW - 5)
    await a_play(db, await a_show(db, id=SHOW), id=PLAY)
    await a_team(db, id=TEAM)
    await an_invocation(db, id=LAUNCH)
    return Writers(db, SteeredClock(at=NOW))
