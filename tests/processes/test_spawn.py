"""Launching: exit codes, environment, streams in files, reasons when it fails, notes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio_tui.application.ports import LaunchSpec
from studio_tui.processes.liveness import own_identity
from studio_tui.processes.runlogs import RunLogs
from tests.processes.conftest import DATA, Layer
from tests.processes.waiting import until


async def test_exit_code_and_output(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", "sh", "-c", "echo out; echo err >&2; exit 3"))
    assert await child.wait() == 3
    tail = layer.logs.tail("aaa", limit=100)
    assert tail is not None
    assert (tail.stdout, tail.stderr, tail.stdout_bytes, tail.stderr_bytes) == ("out\n", "err\n", 4, 4)


async def test_death_by_signal_is_the_negative_number(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", "sleep", "60"))
    os.kill(child.identity.pid, signal.SIGKILL)
    assert await child.wait() == -signal.SIGKILL


async def test_several_may_wait_and_a_cancelled_waiter_harms_nobody(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", "sh", "-c", "read line; sleep 0.1; exit 4"))
    first, second = asyncio.ensure_future(child.wait()), asyncio.ensure_future(child.wait())
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 4
    assert await child.wait() == 4


@pytest.fixture
def terminal_like_stdin() -> Iterator[None]:
    """Something on our stdin that a child must not get hold of."""
    kept, (reader, writer) = os.dup(0), os.pipe()
    os.dup2(reader, 0)
    os.write(writer, b"meant for the console")
    os.close(writer)
    yield
    os.dup2(kept, 0)
    os.close(kept)
    os.close(reader)


@pytest.mark.usefixtures("terminal_like_stdin")
async def test_stdin_is_empty_and_the_session_is_its_own(layer: Layer) -> None:
    code = "import os,sys; print(repr(sys.stdin.read()), os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid())"
    child = await layer.processes.launch(layer.spec("aaa", sys.executable, "-c", code))
    assert await child.wait() == 0
    tail = layer.logs.tail("aaa", limit=100)
    assert tail is not None
    assert tail.stdout == "'' True True\n"


async def test_environment_is_added_to_and_taken_from(layer: Layer, tmp_path: Path) -> None:
    layer.processes._environment["TAKEN"] = "secret"
    spec = LaunchSpec("aaa", ("sh", "-c", 'echo "$GIVEN,$TAKEN,$PWD"'), str(tmp_path), {"GIVEN": "g"}, ("TAKEN",))
    child = await layer.processes.launch(spec)
    assert await child.wait() == 0
    tail = layer.logs.tail("aaa", limit=1000)
    assert tail is not None
    assert tail.stdout == f"g,,{tmp_path}\n"


async def test_files_and_directory_are_private(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", "true"))
    await child.wait()
    assert stat.S_IMODE(layer.directory.stat().st_mode) == 0o700
    for path in layer.directory.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


@pytest.mark.parametrize(
    ("argv", "cwd", "words"),
    [
        (("no-such-executable-here",), None, "no-such-executable-here was not found (looked in "),
        (("/no/such/file",), None, "/no/such/file was not found"),
        (("true",), "/no/such/directory", "the working directory /no/such/directory does not exist"),
        (("/etc",), None, "/etc could not be started: Permission denied"),
        (("echo", "a\0b"), None, "cannot be passed"),
        (("echo", "x" * 300_000), None, "longer than this system allows"),
    ],
)
async def test_what_cannot_be_started_says_why_and_leaves_nothing(
    layer: Layer, argv: tuple[str, ...], cwd: str | None, words: str
) -> None:
    with pytest.raises(OSError, match=re.escape(words)):
        await layer.processes.launch(layer.spec("aaa", *argv, cwd=cwd))
    assert list(layer.directory.iterdir()) == []


async def test_a_note_names_the_process_and_its_supervisor(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", "sleep", "60"))
    note = layer.notes.recall("aaa")
    assert note is not None
    assert (note.identity, note.supervisor) == (child.identity, own_identity())
    child.release()
    released = layer.notes.recall("aaa")
    assert released is not None
    assert (released.identity, released.supervisor) == (child.identity, None)
    assert layer.processes.alive(child.identity) is True
    layer.notes.forget("aaa")
    assert layer.notes.recall("aaa") is None
    await layer.processes.stop(child.identity, grace=1)


async def test_a_note_without_a_process_finds_it_by_its_mark(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", "sleep", "60"))
    layer.notes.begin("aaa")  # as a host leaves it that dies between the two notes
    note = layer.notes.recall("aaa")
    assert note is not None
    assert note.identity == child.identity
    await child.terminate(grace=1)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"at": 1}', '{"at": "x", "process": 1, "supervisor": null}'])
def test_a_broken_note_is_no_note(layer: Layer, text: str) -> None:
    layer.directory.mkdir()
    (layer.directory / "aaa.pid.json").write_text(text)
    assert layer.notes.recall("aaa") is None


@pytest.mark.parametrize("run_id", ["../x", "", "a/b", "x" * 65, "a\0b"])
def test_ids_never_leave_the_directory(layer: Layer, run_id: str) -> None:
    assert layer.logs.tail(run_id, limit=10) is None
    assert layer.notes.recall(run_id) is None
    with pytest.raises(ValueError, match="not an id"):
        layer.notes.begin(run_id)


def test_old_notes_go_first(layer: Layer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio_tui.processes.notes.KEPT_NOTES", 2)
    layer.notes.prune()
    for number in range(4):
        layer.notes.begin(f"run{number}")
        os.utime(layer.directory / f"run{number}.pid.json", (1000 + number, 1000 + number))
    layer.notes.prune()
    assert sorted(path.name for path in layer.directory.iterdir()) == ["run2.pid.json", "run3.pid.json"]


async def test_a_helper_that_keeps_the_streams_open_holds_nobody_up(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", str(DATA / "pipe-holder.sh"), "60"))
    assert await asyncio.wait_for(child.wait(), 10) == 0
    tail = layer.logs.tail("aaa", limit=1000)
    assert tail is not None
    assert "line before" in tail.stdout
    assert tail.stderr == "done, leaving\n"


async def test_bytes_that_are_not_text_are_kept_and_shown_as_marks(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", str(DATA / "nonutf8-output.sh")))
    assert await child.wait() == 0
    stored = (layer.directory / "aaa.out").read_bytes()
    assert b"1 latin-1: caf\xe9 na\xefve\n" in stored
    assert b"3 emoji in two writes: \xf0\x9f\x9a\x80 ok\n" in stored
    assert len(stored) > 1_000_000
    tail = layer.logs.tail("aaa", limit=2048)
    assert tail is not None
    assert tail.stdout_bytes == len(stored)
    assert "10 after the random block" in tail.stdout
    assert tail.stdout.endswith("11 cut at the very end �")
    assert tail.stderr == "7 stderr: �� end\n"


async def test_very_long_lines_are_stored_whole(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", str(DATA / "long-line.sh")))
    assert await child.wait() == 0
    tail = layer.logs.tail("aaa", limit=2048)
    assert tail is not None
    assert tail.stdout.endswith("\ntail\nno newline at the end")
    assert tail.stderr_bytes == 300_001
    assert tail.stdout_bytes > 5_200_000


def test_a_tail_does_not_begin_inside_a_letter(tmp_path: Path) -> None:
    (tmp_path / "aaa.out").write_text("ab€€", encoding="utf-8")
    tail = RunLogs(tmp_path).tail("aaa", limit=5)
    assert tail is not None
    assert tail.stdout == "€"


def test_old_output_goes_first_and_that_of_running_firings_stays(tmp_path: Path) -> None:
    logs = RunLogs(tmp_path, keep=4)
    for number in range(5):
        for suffix in (".out", ".err"):
            path = tmp_path / f"run{number}{suffix}"
            path.write_text("x")
            os.utime(path, (1000 + number, 1000 + number))
    (tmp_path / "run0.pid.json").write_text("{}")
    assert logs.prune() == 4
    assert sorted({path.stem for path in tmp_path.glob("*.out")}) == ["run0", "run3", "run4"]


HOLDER = """
import asyncio, os, sys
from pathlib import Path
from studio_tui.application.ports import LaunchSpec
from studio_tui.processes.notes import LaunchNotes
from studio_tui.processes.runlogs import RunLogs
from studio_tui.processes.spawn import Processes

async def main(directory):
    layer = Processes(logs=RunLogs(directory), notes=LaunchNotes(directory), environment=dict(os.environ))
    script = "echo begin; while [ ! -e go ]; do sleep 0.05; done; echo end; echo more >&2"
    child = await layer.launch(LaunchSpec("aaa", ("sh", "-c", script), str(directory.parent)))
    if sys.argv[2] == "release":
        child.release()
    print(child.identity.pid, flush=True)
    if sys.argv[2] == "kill":
        os.kill(os.getpid(), 9)

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("end", ["release", "leave", "kill"])
async def test_a_child_outlives_its_console_and_writes_on(layer: Layer, end: str) -> None:
    console = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(layer.directory), end, stdout=subprocess.PIPE
    )
    await console.communicate()
    assert console.returncode == (-9 if end == "kill" else 0)
    note = layer.notes.recall("aaa")
    assert note is not None
    assert note.identity is not None
    identity = note.identity
    assert layer.processes.alive(identity) is True
    assert (note.supervisor is None) == (end == "release")
    if note.supervisor is not None:
        assert layer.processes.alive(note.supervisor) is False
    (layer.directory.parent / "go").touch()
    await until(lambda: not layer.processes.alive(identity))
    tail = layer.logs.tail("aaa", limit=100)
    assert tail is not None
    assert (tail.stdout, tail.stderr) == ("begin\nend\n", "more\n")
