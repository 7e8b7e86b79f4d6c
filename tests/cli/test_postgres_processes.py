"""The program as processes of its own on a PostgreSQL store: verbs, screens, hosts, and a local file that is left alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.postgres import EMPTY, Server, wait_until
from tests.state.filled import make_filled_file
from tests.terminal.pseudo import Terminal

STUDIO = [sys.executable, "-m", "studio_tui"]
IMPATIENT = """
import sys
from studio_tui.cli.main import run
from studio_tui.state import lease_keeper
lease_keeper.KEEP_EVERY, lease_keeper.SURE_FOR, lease_keeper.QUIET_LIMIT = 0.1, 1.4, 1.5
sys.exit(run(sys.argv[1:]))
"""
"""The program, for which a host that was quiet for a second and a half is stopped."""
Sql = Callable[..., list[tuple[str, ...]]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which another store lies about, full of rows that must not be seen."""
    home = tmp_path / "home"
    home.mkdir()
    make_filled_file(home / "state.db")
    monkeypatch.setenv("LIONAGI_HOME", str(home))
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", "echo,sleep,sh")
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    monkeypatch.chdir(tmp_path)
    return home


@pytest.fixture
def url(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty store, which every program of this test is given."""
    monkeypatch.setenv("LIONAGI_STATE_DB_URL", postgres_url)
    return postgres_url


@pytest.fixture
def sql(postgres: Server, postgres_database: str) -> Sql:
    return lambda *statements: postgres.run(postgres_database, *statements)


def studio(*arguments: str, expect: int = 0) -> str:
    done = subprocess.run([*STUDIO, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == expect, done.stderr
    return done.stdout


def schedule(name: str, every: str, *command: str) -> None:
    studio("schedules", "create", "command", name, "--every", every, "--", *command)


def seen_firing(sql: Sql, status: str) -> int:
    return int(sql(f"SELECT count(*) FROM schedule_runs WHERE status = '{status}'")[0][0])


@contextmanager
def host(*arguments: str, program: Sequence[str] = STUDIO) -> Iterator[subprocess.Popen[str]]:
    """A host without a screen that is surely gone at the end."""
    process = subprocess.Popen([*program, "scheduler", "run", *arguments], stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def left_alone(home: Path, *pids: Callable[[], int]) -> Iterator[Callable[[], None]]:
    """Nothing about the local file changes; ``look`` sees whether one of the processes has it open."""
    file = home / "state.db"
    before = (file.read_bytes(), sorted(path.name for path in home.glob("state.db*")))

    def look() -> None:
        for pid in pids:
            assert not [name for name in open_files(pid()) if "state.db" in name]

    yield look
    assert (file.read_bytes(), sorted(path.name for path in home.glob("state.db*"))) == before


def open_files(pid: int) -> Sequence[str]:
    names: list[str] = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            names.append(os.readlink(entry))
        except FileNotFoundError:
            continue
    return names


def test_verbs_work_on_the_server_and_say_so(home: Path, url: str, sql: Sql, postgres: Server) -> None:
    with left_alone(home):
        assert json.loads(studio("--db", url, "runs", "list", "--json"))["items"] == []
        schedule("later", "1h", "echo", "hi")
        assert sql("SELECT name FROM schedules") == [("later",)]
        shown = json.loads(studio("schedules", "show", "later", "--json"))
        assert shown["name"] == "later"
        studio("schedules", "disable", "later")
        assert sql("SELECT enabled FROM schedules") == [("0",)]
        studio("schedules", "enable", "later")
        studio("schedules", "fire", "later")
        assert seen_firing(sql, "completed") == 1
        assert json.loads(studio("schedules", "history", "later", "--json"))["items"][0]["status"] == "completed"
        assert str(postgres.folder) in studio("doctor", expect=0)
        assert "later" not in studio("--read-only", "schedules", "disable", "later", expect=7)
        for verb in (("shows", "list"), ("scheduler", "status"), ("state", "plan")):
            studio(*verb)


def test_a_store_is_made_on_the_server_when_asked(home: Path, postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    database = postgres.database(EMPTY)
    try:
        monkeypatch.setenv("LIONAGI_STATE_DB_URL", postgres.url(database))
        with left_alone(home):
            assert json.loads(studio("runs", "list", "--json"))["items"] == []
            studio("init")
            schedule("later", "1h", "echo", "hi")
        assert postgres.run(database, "SELECT name FROM schedules") == [("later",)]
    finally:
        postgres.drop(database)


def test_a_password_is_seen_nowhere(home: Path, url: str, postgres: Server) -> None:
    postgres.guard("guarded", password="S3cret")
    address = url.replace("studio@", "guarded:S3cret@", 1)
    for arguments in (("runs", "list"), ("doctor",), ("scheduler", "run", "--for", "1"), ("runs", "list", "--json")):
        wrong = address.replace("S3cret@", "wrong-S3cret@", 1)
        done = subprocess.run([*STUDIO, "--db", wrong, *arguments], capture_output=True, text=True, timeout=60, check=False)
        assert "S3cret" not in done.stdout + done.stderr
        assert "guarded:***@" in done.stdout + done.stderr or "refused the login" in done.stdout + done.stderr
    logs = [path for path in (home / "studio-tui").rglob("*") if path.is_file()]
    assert not [path for path in logs if b"S3cret" in path.read_bytes()]


def test_a_host_fires_and_a_second_takes_over_when_it_is_killed(home: Path, url: str, sql: Sql) -> None:
    schedule("often", "1s", "echo", "hi")
    with host() as first, left_alone(home, lambda: first.pid) as look:
        wait_until(lambda: seen_firing(sql, "completed") >= 2, "firings of the first host")
        look()
        with host() as second, left_alone(home, lambda: second.pid):
            assert second.stdout is not None
            said = iter(second.stdout.readline, "")
            assert f"pid {first.pid}" in next(line for line in said if "standby" in line)
            assert f"pid {first.pid}" in json.loads(studio("scheduler", "status", "--json"))["holder"]
            first.send_signal(signal.SIGKILL)
            killed = time.time()
            first.wait()
            assert any("hosting the scheduler of this store" in line for line in said)
            taken = time.time() - killed
            wait_until(lambda: float(sql("SELECT max(fired_at) FROM schedule_runs")[0][0]) > killed, "a firing")
            second.terminate()
            second.wait(30)
    assert taken < 5, "two seconds on a machine that has nothing else to do"
    once_each(sql)


def launched_by(home: Path, pid: int) -> list[str]:
    """The instants for which this process launched the command."""
    return [at for at, parent in map(str.split, (home / "fired").read_text().splitlines()) if parent == str(pid)]


def test_a_host_that_is_stopped_is_replaced_and_fires_nothing_when_continued(home: Path, url: str, sql: Sql) -> None:
    schedule("often", "1s", "sh", "-c", f'echo "$0 $PPID" >> {home}/fired', "{{next_fire_at}}")
    program = [sys.executable, "-c", IMPATIENT]
    with host(program=program) as first:
        wait_until(lambda: seen_firing(sql, "completed") >= 1, "a firing of the first host")
        with host(program=program) as second:
            assert second.stdout is not None
            assert first.stdout is not None
            said = iter(second.stdout.readline, "")
            assert f"pid {first.pid}" in next(line for line in said if "standby" in line)
            first.send_signal(signal.SIGSTOP)
            assert any("hosting the scheduler of this store" in line for line in said)
            count = seen_firing(sql, "completed")
            wait_until(lambda: seen_firing(sql, "completed") > count, "a firing of the second host")
            before = launched_by(home, first.pid)
            first.send_signal(signal.SIGCONT)
            assert any("standby" in line and f"pid {second.pid}" in line for line in iter(first.stdout.readline, ""))
            assert launched_by(home, first.pid) == before
            count = seen_firing(sql, "completed")
            wait_until(lambda: seen_firing(sql, "completed") > count + 1, "more firings of the second host")
    instants = [line.split()[0] for line in (home / "fired").read_text().splitlines()]
    assert len(set(instants)) == len(instants)
    once_each(sql)


def test_a_host_goes_on_after_the_server_has_restarted(home: Path, url: str, sql: Sql, postgres: Server) -> None:
    schedule("often", "1s", "echo", "hi")
    with host() as process:
        for number in range(2):
            wait_until(lambda: seen_firing(sql, "completed") >= 1, "firings")
            postgres.stop()
            postgres.start()
            restarted = time.time()
            since = f"SELECT count(*) FROM schedule_runs WHERE status = 'completed' AND fired_at > {restarted}"
            wait_until(lambda: int(sql(since)[0][0]) >= 1, f"a firing after restart {number + 1}", seconds=60)  # noqa: B023 - called before the next turn
        process.terminate()
        process.wait(30)
    once_each(sql)


def test_two_hosts_that_both_look_never_fire_one_instant_twice(home: Path, url: str, sql: Sql) -> None:
    """Correctness rests on the claim: both believe that they hold the lock."""
    for number in range(4):
        schedule(f"often-{number}", "1s", "echo", "hi")
    program = [sys.executable, "-m", "tests.cli.two_hosts", str(home), url, "4"]
    both = [subprocess.Popen(program, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    counts = [int(process.communicate(timeout=90)[0].split()[-1]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(counts) == len(sql("SELECT id FROM schedule_runs WHERE invocation_id IS NOT NULL"))
    assert min(counts) > 0, "both must have fired something for this to mean anything"
    once_each(sql)


def once_each(sql: Sql) -> None:
    """No planned instant was fired twice, and every firing has its invocation."""
    planned = sql("SELECT schedule_id, trigger_context ->> 'next_fire_at' FROM schedule_runs WHERE status <> 'skipped'")
    assert len(planned) == len(set(planned)) > 0
    fired = "FROM schedule_runs AS r LEFT JOIN invocations AS i ON i.id = r.invocation_id WHERE r.status <> 'skipped'"
    assert sql(f"SELECT count(*) {fired} AND i.id IS NULL") == [("0",)]


def test_the_console_shows_the_server_and_follows_it(home: Path, url: str, sql: Sql, postgres_database: str) -> None:
    schedule("nightly-on-server", "1h", "echo", "hi")
    argv = [*STUDIO, "--no-scheduler", "--db", url]
    with Terminal(argv, environment=dict(os.environ)) as terminal, left_alone(home, lambda: terminal.pid) as look:
        terminal.wait_for("Runs", seconds=40)
        assert terminal.lines[0].split()[1].endswith(postgres_database)
        for key, words in (("3", "nightly-on-server"), ("2", "Shows"), ("4", "Definitions"), ("1", "Runs")):
            terminal.send(key)
            terminal.wait_for(words, seconds=20)
            look()
        assert "run 1 —" not in terminal.text
        sql(
            "INSERT INTO progressions VALUES ('p', 1.0, '[]')",
            "INSERT INTO sessions (id, created_at, updated_at, progression_id, name, status) "
            "VALUES ('r', 1796000000, 1796000000, 'p', 'run-from-elsewhere', 'completed')",
        )
        terminal.wait_for("run-from-elsewhere", seconds=20)
        look()
        terminal.signal(signal.SIGTERM)
        terminal.wait_exit(seconds=20)
