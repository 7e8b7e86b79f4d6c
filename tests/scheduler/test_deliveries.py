"""Messages are delivered by real commands: side by side, again when it failed, by one host at a time, and after a death again."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.clock import SystemClock
from studio_tui.domain.outbox import LEASE
from studio_tui.scheduler import errands as working
from tests.builders import run_sql
from tests.fakes.clock import SteeredClock
from tests.interop.written import our_store
from tests.processes.waiting import until
from tests.scheduler.messages import Courier, courier, sh

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


async def settled(made: Courier, *, turns: int = 1) -> None:
    """So many looks, and the end of all that they begin."""
    for _ in range(turns):
        await made.errands.look()
        while made.errands._under_way:
            await asyncio.wait(tuple(made.errands._under_way))


async def test_the_payload_comes_on_the_standard_input_or_as_an_argument(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for template in (
        sh('cat > "$2"; echo "$1" >> "$2"', str(out)),
        sh('printf %s "$3" > "$2"; echo "$1" >> "$2"', str(out), "{payload}"),
    ):
        async with courier(home, *template) as made:
            sent = await made.delivery.enqueue(NewDispatch("k", "; rm -rf /", {"text": "ä"}))
            await settled(made)
            assert (await made.found(sent.dispatch_id)).status == "delivered"
            assert out.read_text() == json.dumps(sent.payload) + "; rm -rf /\n"


async def test_messages_are_delivered_side_by_side(home: Path, tmp_path: Path) -> None:
    """Each command ends only once the other has begun."""
    meet = 'touch "$2/$1"; while ! [ -e "$2/a" ] || ! [ -e "$2/b" ]; do sleep 0.01; done'
    async with courier(home, *sh(meet, str(tmp_path))) as made:
        sent = [await made.delivery.enqueue(NewDispatch("k", name)) for name in "ab"]
        await settled(made)
        assert [(await made.found(one.dispatch_id)).status for one in sent] == ["delivered", "delivered"]


async def test_no_more_are_claimed_than_begin_at_once(home: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    async with courier(home, *sh('while ! [ -e "$2" ]; do sleep 0.01; done', str(gate))) as made:
        for number in range(working.SIDE_BY_SIDE + 3):
            await made.delivery.enqueue(NewDispatch("k", f"{number}"))
        made.errands.start()
        await until(lambda: len(made.errands._under_way) == working.SIDE_BY_SIDE)
        await made.errands.look()
        assert await made.outbox.counts() == {"delivering": working.SIDE_BY_SIDE, "pending": 3}
        gate.touch()
        await made.counted(delivered=working.SIDE_BY_SIDE + 3)


async def test_what_failed_waits_and_ends_as_a_dead_letter(home: Path) -> None:
    clock = SteeredClock()
    async with courier(home, *sh("echo no route >&2; exit 1"), clock=clock) as made:
        sent = await made.delivery.enqueue(NewDispatch("k", "x", max_attempts=2))
        await settled(made, turns=3)
        found = await made.found(sent.dispatch_id)
        assert (found.status, found.attempt, found.last_error) == ("pending", 1, "no route")
        assert found.next_attempt_at == clock.now() + 60
        clock.advance(60)
        await settled(made)
        assert (await made.found(sent.dispatch_id)).status == "dead_letter"


async def test_one_that_wants_an_answer_is_sent_until_it_has_one(home: Path, tmp_path: Path) -> None:
    clock, out = SteeredClock(), tmp_path / "out"
    async with courier(home, *sh('echo "$1" >> "$2"', str(out)), clock=clock) as made:
        sent = await made.delivery.enqueue(NewDispatch("k", "x", ack_required=True))
        for wait in (60, 120):
            await settled(made, turns=2)
            clock.advance(wait)
        assert out.read_text() == "x\nx\n"
        await made.outbox.acknowledge(sent.dispatch_id, sent.ack_token or "")
        await settled(made)
        assert out.read_text() == "x\nx\n"


async def test_without_a_command_nothing_is_attempted_but_what_is_past_its_time_expires(home: Path) -> None:
    clock = SteeredClock()
    async with courier(home, clock=clock) as made:
        waits = await made.delivery.enqueue(NewDispatch("k", "x"))
        ends = await made.delivery.enqueue(NewDispatch("k", "x", expires_at=clock.now() + 5))
        clock.advance(5)
        await settled(made, turns=2)
        assert (await made.found(ends.dispatch_id)).status == "expired"
        found = await made.found(waits.dispatch_id)
        assert (found.status, found.attempt) == ("pending", 0)


async def test_who_does_not_host_delivers_nothing(home: Path) -> None:
    hosting = False
    async with courier(home, *sh("true"), hosts=lambda: hosting) as made:
        sent = await made.delivery.enqueue(NewDispatch("k", "x"))
        await settled(made)
        assert (await made.found(sent.dispatch_id)).status == "pending"
        hosting = True
        await settled(made)
        assert (await made.found(sent.dispatch_id)).status == "delivered"


async def test_a_stop_cuts_short_what_hangs_and_its_lease_stays(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working, "LEAVE_AFTER", 0.05)
    out = tmp_path / "out"
    async with courier(home, *sh('echo $$ > "$2"; exec sleep 600', str(out))) as made:
        sent = await made.delivery.enqueue(NewDispatch("k", "x"))
        task = made.errands.start()
        await until(lambda: out.exists() and out.read_text().endswith("\n"))
        await made.errands.stop()
        assert task.done()
        found = await made.found(sent.dispatch_id)
        assert (found.status, found.attempt) == ("delivering", 1)
    assert not Path(f"/proc/{int(out.read_text())}").exists()


async def test_two_hosts_never_deliver_one_message_twice(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    template = sh('echo "$1" >> "$2"', str(out))
    async with courier(home, *template) as one, courier(home, *template) as other:
        for number in range(30):
            await one.delivery.enqueue(NewDispatch("k", f"{number}"))
        for made in (one, other):
            made.errands.start()
        await one.counted(delivered=30)
    assert Counter(out.read_text().split()) == Counter(map(str, range(30)))


async def test_a_host_killed_in_the_middle_leaves_the_message_to_the_next_one_after_its_lease(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with courier(home) as made:
        sent = await made.delivery.enqueue(NewDispatch("k", "x"))
    dying = [sys.executable, "-m", "tests.scheduler.messages", str(home), *sh('echo "$1" >> "$2"; kill -9 $PPID', str(out))]
    assert subprocess.run(dying, cwd=ROOT, check=False, timeout=60).returncode == -9
    clock = SteeredClock(at=SystemClock().now())
    async with courier(home, *sh('echo "$1" >> "$2"', str(out)), clock=clock) as made:
        await settled(made)
        assert (await made.found(sent.dispatch_id)).status == "delivering"
        clock.advance(LEASE)
        await settled(made)
        found = await made.found(sent.dispatch_id)
    assert (found.status, found.attempt) == ("delivered", 2)
    assert out.read_text() == "x\nx\n"


async def test_a_payload_that_cannot_be_read_is_a_failed_attempt(home: Path) -> None:
    async with courier(home, *sh("true")) as made:
        sent = await made.delivery.enqueue(NewDispatch("k", "x"))
        async with our_store(home) as db:
            await run_sql(db, "UPDATE dispatch_outbox SET payload = '{broken'")
        await settled(made)
        assert (await made.found(sent.dispatch_id)).last_error == "the payload cannot be read"
