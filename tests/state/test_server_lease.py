"""One host per store on PostgreSQL: who holds the lock, what can be seen of the holder, and what ends it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from studio_tui.domain.identity import ProcessIdentity
from studio_tui.processes.liveness import own_identity
from studio_tui.scheduler import host as hosting
from studio_tui.scheduler import lease as file_lease
from studio_tui.state import lease_keeper
from studio_tui.state.lease_keeper import signed
from studio_tui.state.server_lease import ServerLease
from studio_tui.state.urls import normalize_state_db_url
from tests.postgres import SUPERUSER, Server, wait_until

Make = Callable[..., ServerLease]
HOLDER = """
import sys, time
from studio_tui.processes.liveness import own_identity
from studio_tui.state.server_lease import ServerLease
lease = ServerLease(sys.argv[1], identity=own_identity(), label="studio-tui", now=time.time)
print(lease.acquire(), flush=True)
time.sleep(600)
"""
ASKED = """
import sys, time
from studio_tui.processes.liveness import own_identity
from studio_tui.scheduler import host as hosting
from studio_tui.scheduler import lease as file_lease
from studio_tui.state import lease_keeper
from studio_tui.state.server_lease import ServerLease
lease_keeper.KEEP_EVERY, lease_keeper.SURE_FOR = 0.05, 0.9
lease = ServerLease(sys.argv[1], identity=own_identity(), label="studio-tui", now=time.time)
print(lease.acquire(), flush=True)
for line in sys.stdin:
    print(lease.acquire() if line == "acquire\\n" else lease.holds(), flush=True)
"""
"""Says each time it is asked whether it holds the lock, or tries to get it."""


@pytest.fixture
def make(postgres_url: str) -> Iterator[Make]:
    made: list[ServerLease] = []

    def make(url: str = postgres_url, *, label: str = "studio-tui", at: float = 1000.0, **who: Any) -> ServerLease:
        identity = own_identity() if not who else ProcessIdentity(**{"created_at": None, "boot_time": None, **who})
        made.append(ServerLease(normalize_state_db_url(url), identity=identity, label=label, now=lambda: at))
        return made[-1]

    yield make
    for lease in made:
        lease.release()


def test_one_holds_it(make: Make) -> None:
    first, second = make(), make()
    assert first.acquire()
    assert first.acquire(), "to take what one has is no harm"
    assert not second.acquire()
    assert (first.holds(), second.holds()) == (True, False)
    assert (first.problem, second.problem) == (None, None)
    first.release()
    first.release()
    assert not first.holds()
    assert second.acquire()
    assert not first.acquire()


def test_looking_takes_nothing(make: Make) -> None:
    lease = make()
    assert lease.holder() is None
    assert not lease.holds()
    lease.beat()
    lease.release()
    assert make().acquire()


def test_the_holder_can_be_read_by_all_others(make: Make) -> None:
    first = make(label="studio-tui scheduler", at=1_796_000_000.4)
    before = time.time() - 1
    assert first.acquire()
    assert first.holder() is None, "that is this process itself"
    for other in (make(), make()):
        record = other.holder()
        assert record is not None
        assert (record.label, record.since) == ("studio-tui scheduler", 1_796_000_000.0)
        assert (record.identity.pid, record.identity.host) == (os.getpid(), own_identity().host)
        assert before <= record.seen_at <= time.time() + 1
        assert not other.acquire()


def test_it_gives_signs_of_life(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_keeper, "KEEP_EVERY", 0.05)
    first, second = make(), make()
    first.acquire()
    record = second.holder()
    assert record is not None
    first_seen = record.seen_at
    wait_until(lambda: (now := second.holder()) is not None and now.seen_at > first_seen, "a sign of life")


def test_long_and_odd_host_names_are_cut_and_read(make: Make) -> None:
    name = signed("studio-tui scheduler", 4_194_303, "ünï-" + "x" * 200, 1_796_000_000.0)
    assert len(f"{name} 0".encode()) == 63, "with the sign of life behind it"
    make(pid=7, host="h" * 200).acquire()
    record = make().holder()
    assert record is not None
    assert (record.identity.pid, set(record.identity.host or "")) == (7, {"h"})


def test_stores_in_one_database_do_not_share_it(make: Make, postgres: Server, postgres_database: str) -> None:
    postgres.run(postgres_database, "CREATE SCHEMA other AUTHORIZATION studio")
    assert make().acquire()
    assert make(postgres.url(postgres_database, query="&search_path=other")).acquire()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_death_of_its_holder_frees_it_at_once(make: Make, postgres_url: str, number: signal.Signals) -> None:
    command = [sys.executable, "-c", HOLDER, normalize_state_db_url(postgres_url)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=os.getcwd()) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "True\n"
            standby = make()
            assert not standby.acquire()
            record = standby.holder()
            assert record is not None
            assert record.identity.pid == holder.pid
            holder.send_signal(number)
            holder.wait(10)
            wait_until(standby.acquire, "the lock", seconds=2)
        finally:
            holder.kill()


def test_the_limits_fit_together() -> None:
    assert lease_keeper.QUIET_LIMIT == file_lease.QUIET_LIMIT, "the same on both databases"
    assert lease_keeper.SURE_FOR + lease_keeper.KEEP_EVERY < lease_keeper.QUIET_LIMIT, "nobody believes to hold it who may not"
    assert lease_keeper.KEEP_EVERY + lease_keeper.ANSWER_WITHIN < lease_keeper.SURE_FOR, "a slow answer is no doubt"
    assert 2 * hosting.BEAT_EVERY < lease_keeper.CONSOLE_QUIET, "a sign of life that comes late is none too few"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is quiet for half a second or so is taken for stopped."""
    monkeypatch.setattr(lease_keeper, "KEEP_EVERY", 0.05)
    monkeypatch.setattr(lease_keeper, "QUIET_LIMIT", 1.0)


@pytest.mark.usefixtures("impatient")
def test_a_holder_that_is_stopped_is_replaced_and_finds_out_first_of_all(make: Make, postgres_url: str) -> None:
    command = [sys.executable, "-c", ASKED, normalize_state_db_url(postgres_url)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1, cwd=os.getcwd()) as holder:

        def asks(word: str) -> str:
            assert holder.stdin is not None
            assert holder.stdout is not None
            holder.stdin.write(f"{word}\n")
            return holder.stdout.readline().strip()

        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "True\n"
            assert asks("holds") == "True"
            standby = make()
            assert not standby.acquire()
            holder.send_signal(signal.SIGSTOP)
            wait_until(standby.acquire, "the place of the holder that is stopped")
            assert holder.stdin is not None
            holder.stdin.write("holds\n")
            holder.send_signal(signal.SIGCONT)
            assert holder.stdout.readline() == "False\n", "by its very first answer"
            assert asks("acquire") == "False"
            assert standby.holds()
            standby.release()
            assert asks("acquire") == "True"
        finally:
            holder.kill()


def test_who_is_in_doubt_holds_nothing_and_asks_anew(
    make: Make, postgres: Server, postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder, standby = make(), make()
    assert holder.acquire()
    monkeypatch.setattr(lease_keeper, "SURE_FOR", 0.0)
    assert not holder.holds()
    assert not standby.acquire()
    assert holder.acquire()
    locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
    assert postgres.run(postgres_database, locks) == [("1",)]


@pytest.mark.usefixtures("impatient")
def test_a_holder_that_lives_is_left_however_long_one_waits(make: Make) -> None:
    holder, standby = make(), make()
    assert holder.acquire()
    seen = set[float]()

    def tried() -> bool:
        assert not standby.acquire()
        found = standby.holder()
        assert found is not None
        seen.add(found.seen_at)
        return max(seen) - min(seen) > 1.6

    wait_until(tried, "more than the limit to pass")
    assert holder.holds()
    assert standby.problem is None


@pytest.mark.usefixtures("impatient")
def test_a_console_that_hangs_gives_no_sign_of_life(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_keeper, "CONSOLE_QUIET", 0.3)
    holder, standby = make(), make()
    assert holder.acquire()
    wait_until(standby.acquire, "the place of the holder whose console hangs")
    wait_until(lambda: not holder.holds(), "the loss to be noticed")


@pytest.mark.usefixtures("impatient")
def test_a_session_of_an_old_version_that_gives_no_signs_is_left(
    make: Make, postgres: Server, postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_keeper, "CONSOLE_QUIET", 0.0)
    monkeypatch.setattr(lease_keeper, "QUIET_LIMIT", 0.0)
    monkeypatch.setattr(lease_keeper, "_SIGN", f"{lease_keeper._SIGN} WHERE false")
    holder, standby = make(), make()
    assert holder.acquire()
    assert not any(standby.acquire() for _ in range(5))
    assert holder.holds()


@pytest.mark.usefixtures("impatient")
def test_who_may_not_end_a_quiet_session_says_what_helps(
    make: Make, postgres: Server, postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_keeper, "CONSOLE_QUIET", 0.3)
    holder, standby = make(postgres.url(postgres_database, user=SUPERUSER)), make()
    assert holder.acquire()
    wait_until(lambda: standby.acquire() or standby.problem, "a word on it")
    assert "no sign of life for 1 s or more, and the login of this store may not end its session" in (standby.problem or "")
    assert not standby.acquire()
    helps = re.search(r"SELECT pg_terminate_backend\(\d+\)", standby.problem or "")
    assert helps is not None
    assert postgres.run(postgres_database, helps[0]) == [("t",)]
    wait_until(standby.acquire, "the lock")
    assert standby.problem is None


def test_a_server_that_restarts_ends_it_and_gives_it_anew(make: Make, postgres: Server) -> None:
    first, second = make(), make()
    first.acquire()
    second.acquire()
    postgres.stop()
    try:
        wait_until(lambda: not first.holds(), "the loss to be noticed")
        assert not first.acquire()
        assert "cannot be asked for" in (first.problem or "")
        assert second.holder() is None
    finally:
        postgres.start()
    wait_until(first.acquire, "the lock")
    assert first.problem is None
    assert not second.acquire()


def test_a_session_that_is_ended_loses_it(make: Make, postgres: Server, postgres_database: str) -> None:
    first, second = make(), make()
    first.acquire()
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'studio-tui %@%'"
    assert postgres.run(postgres_database, end) == [("t",)]
    wait_until(lambda: not first.holds(), "the loss to be noticed")
    wait_until(second.acquire, "the lock")


def test_a_server_that_does_not_answer_ends_it(make: Make, postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_keeper, "KEEP_EVERY", 0.05)
    monkeypatch.setattr(lease_keeper, "ANSWER_WITHIN", 0.3)
    lease = make()
    lease.acquire()
    with postgres.frozen():
        wait_until(lambda: not lease.holds(), "the loss to be noticed")
        lease.release()
    wait_until(make().acquire, "the lock")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://nobody:s3cret@/none?host=/nowhere", "cannot be"),
        ("postgresql://nobody:s3cret@/none?host=/nowhere&channel_binding=x", "channel_binding"),
    ],
)
def test_what_stands_in_its_way_is_said_without_secrets(make: Make, url: str, words: str) -> None:
    lease = make(url)
    assert not lease.acquire()
    assert words in (lease.problem or "")
    assert "s3cret" not in (lease.problem or "")
    assert lease.holder() is None
