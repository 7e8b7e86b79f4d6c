"""The outbox, teams, and upkeep of the store: acts on purpose, each on record."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from studio_tui.application.maintenance import MaintenanceService
from studio_tui.application.models.invocations import TeamMessageQuery
from studio_tui.application.models.maintenance import AdminEventQuery, CheckpointStore
from studio_tui.application.models.outbox import (
    AcknowledgeDispatch,
    DispatchQuery,
    PurgeDispatch,
    PurgeDispatches,
    RetryDispatch,
)
from studio_tui.application.ports import ActProvenance, HostRecord
from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.state.stores.admin_events import AdminEventStore
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from studio_tui.state.upkeep import Upkeep
from tests.application.covering import covers
from tests.application.home import OpenHome
from tests.builders import run_sql
from tests.fakes.ports import FakeHost, MemorySidecar
from tests.state.outbox_story import dead


class TestOutbox:
    def delivery(self, home: OpenHome) -> OutboxDeliveryStore:
        return OutboxDeliveryStore(home.db, home.clock)

    async def test_a_dead_letter_is_counted_shown_and_tried_again(self, home: OpenHome) -> None:
        outbox = home.studio.outbox
        letter = await dead(self.delivery(home))
        assert [(one.status, one.count) for one in await outbox.counts()] == [("dead_letter", 1)]
        shown = (await outbox.list_dispatches(DispatchQuery(status=("dead_letter",)))).items
        assert [(one.dispatch_id, one.last_error) for one in shown] == [(letter.dispatch_id, "exit 1")]
        again = await outbox.retry(RetryDispatch(dispatch_id=letter.dispatch_id))
        assert (again.status, again.attempt, again.last_error) == ("pending", 0, None)

    @covers("outbox.retry", "stale")
    @covers("outbox.acknowledge", "stale")
    async def test_only_what_failed_is_tried_again_and_only_what_asks_is_answered(self, home: OpenHome) -> None:
        made = await self.delivery(home).enqueue(NewDispatch("k", "x"))
        for act in (
            home.studio.outbox.retry(RetryDispatch(dispatch_id=made.dispatch_id)),
            home.studio.outbox.acknowledge(AcknowledgeDispatch(dispatch_id=made.dispatch_id, token="t")),
        ):
            with pytest.raises(Conflict):
                await act

    async def test_the_token_of_the_consumer_is_checked_and_never_told(self, home: OpenHome) -> None:
        outbox = home.studio.outbox
        made = await self.delivery(home).enqueue(NewDispatch("k", "x", {"n": 1}, ack_required=True))
        assert made.ack_token
        shown = await outbox.get_dispatch(made.dispatch_id)
        assert (shown.payload or {})["body"] == {"n": 1}
        with pytest.raises(PermissionDenied) as caught:
            await outbox.acknowledge(AcknowledgeDispatch(dispatch_id=made.dispatch_id, token="guess"))
        assert made.ack_token not in f"{shown.model_dump_json()} {caught.value}"
        await self.delivery(home).claim_due(limit=1)
        answered = await outbox.acknowledge(AcknowledgeDispatch(dispatch_id=made.dispatch_id, token=made.ack_token))
        assert answered.status == "acked"

    async def test_a_purge_counts_first_and_deletes_when_it_is_told_to(self, home: OpenHome) -> None:
        outbox = home.studio.outbox
        await dead(self.delivery(home))
        counted = await outbox.purge_older(PurgeDispatches(status="dead_letter"))
        assert (counted.dry_run, counted.total) == (True, 1)
        assert await outbox.counts() != ()
        done = await outbox.purge_older(PurgeDispatches(status="dead_letter", dry_run=False))
        assert [(one.status, one.count) for one in done.counts] == [("dead_letter", 1)]
        assert await outbox.counts() == ()
        for fields in ({}, {"status": "lost"}):
            with pytest.raises(ValidationFailure):
                await outbox.purge_older(PurgeDispatches.model_validate(fields))

    @covers("outbox.purge", "missing")
    async def test_one_message_is_deleted_once(self, home: OpenHome) -> None:
        letter = await dead(self.delivery(home))
        await home.studio.outbox.purge(PurgeDispatch(dispatch_id=letter.dispatch_id))
        with pytest.raises(NotFound):
            await home.studio.outbox.purge(PurgeDispatch(dispatch_id=letter.dispatch_id))
        events = (await home.studio.maintenance.list_events(AdminEventQuery(action="dispatch_purge"))).items
        assert [event.target_id for event in events] == [letter.dispatch_id]
        assert (await home.studio.maintenance.get_event(events[0].event_id)) == events[0]

    async def test_a_status_that_is_none_is_refused_with_those_that_are(self, home: OpenHome) -> None:
        with pytest.raises(ValidationFailure, match="dead_letter"):
            await home.studio.outbox.list_dispatches(DispatchQuery(status=("lost",)))


@covers("teams.list_messages", "empty")
async def test_a_team_that_said_nothing(home: OpenHome) -> None:
    await run_sql(
        home.db,
        "INSERT INTO teams (id, name, status, created_at, updated_at, member_count, node_metadata)"
        " VALUES ('t1', 'audit', 'active', 1.0, 2.0, 2, '{}')",
    )
    assert (await home.studio.teams.get_team("t1")).name == "audit"
    assert (await home.studio.teams.list_messages(TeamMessageQuery(team_id="t1"))).items == ()


class TestUpkeep:
    async def test_a_checkpoint_is_done_and_noted(self, home: OpenHome) -> None:
        await run_sql(home.db, "UPDATE schema_meta SET value = value")
        report = await home.studio.maintenance.checkpoint(CheckpointStore())
        assert not report.busy
        assert report.moved_pages == report.log_pages
        events = (await home.studio.maintenance.list_events(AdminEventQuery())).items
        assert [(event.action, event.details["mode"]) for event in events] == [("checkpoint", "PASSIVE")]

    async def test_a_store_that_may_not_be_written_gets_neither_upkeep_nor_a_note(self, home: OpenHome) -> None:
        looking = OpenHome(home.folder, read_only=True)
        await looking.open()
        try:
            for act in (looking.studio.maintenance.checkpoint(CheckpointStore()), looking.studio.maintenance.vacuum()):
                with pytest.raises(PermissionDenied):
                    await act
            assert (await looking.studio.maintenance.list_events(AdminEventQuery())).items == ()
        finally:
            await looking.close()

    async def test_vacuum_gives_back_the_room_of_deleted_rows(self, home: OpenHome) -> None:
        await run_sql(home.db, "CREATE TEMP TABLE IF NOT EXISTS n (x)")
        await run_sql(home.db, "INSERT INTO schema_meta VALUES ('filler', :text)", text="x" * 500_000)
        await run_sql(home.db, "DELETE FROM schema_meta WHERE key = 'filler'")
        await home.studio.maintenance.checkpoint(CheckpointStore(mode="TRUNCATE"))
        report = await home.studio.maintenance.vacuum()
        await home.studio.maintenance.checkpoint(CheckpointStore(mode="TRUNCATE"))
        assert os.path.getsize(home.folder / "state.db") < (report.bytes_before or 0) - 400_000

    @covers("maintenance.vacuum", "stale")
    @pytest.mark.parametrize(
        ("host", "words"),
        [
            (FakeHost(holder=HostRecord(ProcessIdentity(7, 1.0, "box", 1.0), "studio-tui", 1.0, 1.0)), "pid 7 on box"),
            (FakeHost(state="standby", reason="li studio runs"), "li studio runs"),
        ],
    )
    async def test_vacuum_does_not_lock_out_a_host(self, home: OpenHome, host: FakeHost, words: str) -> None:
        service = MaintenanceService(
            store=Upkeep(home.db),
            events=AdminEventStore(home.db, home.clock),
            host=host,
            sidecar=MemorySidecar(),
            by=ActProvenance("cli"),
            clock=home.clock,
        )
        with pytest.raises(Conflict, match=words):
            await service.vacuum()

    async def test_a_check_finds_what_is_broken(self, home: OpenHome) -> None:
        assert (await home.studio.maintenance.check_integrity()).model_dump() == {"sound": True, "findings": (), "complete": True}
        with closing(sqlite3.connect(home.folder / "state.db", isolation_level=None)) as other:
            other.execute("INSERT INTO run_tags (session_id, tag, created_at) VALUES ('nobody', 'x', 1.0)")
        report: Any = await home.studio.maintenance.check_integrity()
        assert not report.sound
        assert "refers to no row of sessions" in report.findings[0]
