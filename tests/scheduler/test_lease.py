"""One host per store, and what its file says."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from studio_tui.domain.identity import ProcessIdentity
from studio_tui.processes.liveness import alive, own_identity
from studio_tui.scheduler.lease import QUIET_LIMIT, FileLease, peer_daemon_listens
from tests.processes.waiting import until

Make = Callable[..., FileLease]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def make(store: Path) -> Iterator[Make]:
    made: list[FileLease] = []

    def make(*, identity: ProcessIdentity | None = None, label: str = "me", at: float = 1000.0) -> FileLease:
        made.append(FileLease(store, identity=identity or own_identity(), label=label, now=lambda: at, alive=alive))
        return made[-1]

    yield make
    for lease in made:
        lease.release()


def test_one_holds_it(make: Make, store: Path) -> None:
    first, second = make(), make()
    assert first.acquire()
    assert first.acquire(), "to take what one has is no harm"
    assert not second.acquire()
    assert (first.holds(), second.holds()) == (True, False)
    first.release()
    assert second.acquire()
    assert not first.acquire()
    path = store.with_name("state.db.studio-tui-host")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_looking_makes_nothing(make: Make, tmp_path: Path) -> None:
    lease = make()
    assert lease.holder() is None
    assert lease.last_host() is None
    assert not lease.holds()
    lease.release()
    lease.beat()
    assert list(tmp_path.iterdir()) == []


def test_the_holder_can_be_read_and_beats(make: Make, store: Path) -> None:
    first = make(label="console of ann", at=1000.0)
    first.acquire()
    record = make().holder()
    assert record is not None
    assert (record.identity, record.label, record.since, record.seen_at) == (own_identity(), "console of ann", 1000.0, 1000.0)
    first._now = lambda: 1500.0
    first.beat()
    record = make().holder()
    assert record is not None
    assert (record.since, record.seen_at) == (1000.0, 1500.0)


def test_a_holder_that_gave_it_up_is_only_the_last_host(make: Make) -> None:
    first = make()
    first.acquire()
    first.release()
    assert first.holder() is None
    last = first.last_host()
    assert last is not None
    assert last.label == "me"


def test_the_text_of_a_dead_holder_is_only_the_last_host(make: Make) -> None:
    dead = dataclasses.replace(own_identity(), created_at=1.0)
    first = make(identity=dead, label="killed")
    first.acquire()
    assert make().holder() is None
    last = make().last_host()
    assert last is not None
    assert last.label == "killed"


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"pid": "x"}), "\xff" * 9000])
def test_a_broken_file_is_nobody_and_can_be_taken(make: Make, store: Path, text: str) -> None:
    store.with_name("state.db.studio-tui-host").write_text(text)
    lease = make()
    assert lease.holder() is None
    assert lease.acquire()
    assert make().holder() is not None


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_taken_away_is_no_lease_any_more(make: Make, store: Path, replaced: bool) -> None:
    first, second = make(), make()
    first.acquire()
    path = store.with_name("state.db.studio-tui-host")
    path.unlink()
    if replaced:
        path.touch()
    assert not first.holds()
    assert second.acquire()
    assert not first.acquire()
    first.release()
    assert second.holds(), "and giving up the old one takes nothing from the new"
    assert second.holder() is not None


def test_a_place_that_cannot_be_written_is_a_problem_in_words(make: Make, store: Path) -> None:
    lease = make()
    store.with_name("state.db.studio-tui-host").mkdir()
    assert not lease.acquire()
    assert lease.problem == "the host file state.db.studio-tui-host beside the store cannot be opened: Is a directory"
    store.with_name("state.db.studio-tui-host").rmdir()
    assert lease.acquire()
    assert lease.problem is None


def test_a_link_is_not_followed(make: Make, store: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("text")
    store.with_name("state.db.studio-tui-host").symlink_to(tmp_path / "precious")
    assert not make().acquire()
    assert (tmp_path / "precious").read_text() == "text"


HOLDER = """
import sys, time
from pathlib import Path
from studio_tui.processes.liveness import alive, own_identity
from studio_tui.scheduler.lease import FileLease
lease = FileLease(Path(sys.argv[1]), identity=own_identity(), label="holder", now=time.time, alive=alive)
assert lease.acquire()
child = __import__("subprocess").Popen(["sleep", "60"])  # what it launched must not inherit the lock
print(child.pid, flush=True)
time.sleep(60)
"""


async def test_a_killed_holder_frees_it_at_once(make: Make, store: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(store)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        child = int(holder.stdout.readline())
        lease = make()
        assert not lease.acquire()
        record = lease.holder()
        assert record is not None
        assert (record.identity.pid, record.label) == (holder.pid, "holder")
        holder.send_signal(signal.SIGSTOP)
        assert not lease.acquire(), "a stopped holder is a holder"
        holder.kill()
        holder.wait()
        await until(lease.acquire)
        last_words = lease.holder()
        assert last_words is not None
        assert last_words.identity.pid == os.getpid()
        os.kill(child, signal.SIGKILL)


# --- the peer ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def a_socket(path: Path, *, listening: bool = True) -> Iterator[socket.socket]:
    path.parent.mkdir(exist_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    if listening:
        server.listen()
        server.settimeout(0)
    with server:
        yield server


def test_a_daemon_is_seen_and_not_disturbed(tmp_path: Path) -> None:
    store = tmp_path / "state.db"
    path = tmp_path / "studio" / "studio-reconnect.sock"
    assert not peer_daemon_listens(store)
    with a_socket(path) as server:
        assert peer_daemon_listens(store)
        assert not peer_daemon_listens(tmp_path / "other" / "state.db")
        with pytest.raises(BlockingIOError):
            server.accept()
    assert path.exists()
    assert not peer_daemon_listens(store), "the file that a dead daemon leaves proves nothing"


def test_a_socket_that_does_not_listen_is_no_daemon(tmp_path: Path) -> None:
    with a_socket(tmp_path / "studio" / "studio-reconnect.sock", listening=False):
        assert not peer_daemon_listens(tmp_path / "state.db")


def test_a_daemon_is_seen_through_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for daemon, ours in (("link", "real"), ("real", "link")):
        path = tmp_path / daemon / "studio" / "studio-reconnect.sock"
        with a_socket(path):
            assert peer_daemon_listens(tmp_path / ours / "state.db")
        path.unlink()


@pytest.mark.parametrize("table", ["/no/such/table", "/etc/hostname"])
def test_without_a_table_nobody_is_seen(tmp_path: Path, table: str) -> None:
    assert not peer_daemon_listens(tmp_path / "state.db", table=Path(table))


def test_a_holder_that_is_quiet_for_long_is_replaced_and_notices(make: Make, store: Path) -> None:
    stopped, waiting, late = make(), make(), make()
    stopped.acquire()
    clock = 0.0
    waiting._steady = late._steady = lambda: clock
    assert not waiting.acquire()
    clock = QUIET_LIMIT
    assert not waiting.acquire(), "not yet"
    stopped._now = lambda: 1500.0
    stopped.beat()
    clock += QUIET_LIMIT
    assert not waiting.acquire(), "it gave a sign of life, whatever the wall clock made of it"
    assert not late.acquire()
    clock += QUIET_LIMIT + 1
    assert waiting.acquire()
    assert (stopped.holds(), waiting.holds()) == (False, True)
    assert not late.acquire(), "the new holder is watched anew"
    assert not stopped.acquire()
    stopped.release()
    assert waiting.holds(), "what the old one gives up is not this"
    assert [path.name for path in store.parent.iterdir()] == ["state.db.studio-tui-host"]


def test_of_two_that_wait_one_replaces_a_quiet_holder(make: Make) -> None:
    stopped, one, other = make(), make(), make()
    stopped.acquire()
    clock = 0.0
    one._steady = other._steady = lambda: clock
    one.acquire()
    other.acquire()
    clock = QUIET_LIMIT + 1
    assert one.acquire()
    assert not other.acquire()
    assert (one.holds(), other.holds()) == (True, False)
