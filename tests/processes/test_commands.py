"""Commands that are told something: what they get, what counts as an answer, and that nothing of them stays."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from studio_tui.application.ports.commands import Told
from studio_tui.processes.commands import Commands
from tests.processes.waiting import until

PLENTY = 60.0


def sh(script: str, *arguments: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", script, "sh", *arguments)


@pytest.fixture
def commands() -> Commands:
    return Commands(lambda: {"PATH": os.environ["PATH"], "ONLY": "this"})


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


async def test_it_gets_text_arguments_and_environment_as_they_are(commands: Commands, tmp_path: Path) -> None:
    out = tmp_path / "out"
    argv = sh('cat > "$1"; printf "|%s|%s|%s" "$2" "$ONLY" "$HOME" >> "$1"', str(out), "$(id); 'ä")
    assert await commands.tell(argv, "hello ä\n" * 50_000, seconds=PLENTY) == Told()
    assert out.read_text() == "hello ä\n" * 50_000 + "|$(id); 'ä|this|"


async def test_text_that_nobody_reads_is_no_failure(commands: Commands) -> None:
    assert await commands.tell(sh("exec true"), "x" * 1_000_000, seconds=PLENTY) == Told()


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (sh("echo no route >&2; exit 3"), "no route"),
        (sh("exit 3"), "exit 3"),
        (sh("kill -TERM $$"), "ended by signal 15"),
        (("/no/such/program",), "/no/such/program could not be started: No such file or directory"),
        (("/etc",), "/etc could not be started: Permission denied"),
        (("/bin/sh", "a\0b"), "/bin/sh could not be started: embedded null byte"),
    ],
)
async def test_what_does_not_count_is_said_in_words(commands: Commands, argv: tuple[str, ...], error: str) -> None:
    assert await commands.tell(argv, "", seconds=PLENTY) == Told(error)


async def test_a_complaint_without_end_neither_blocks_nor_fills_anything(commands: Commands) -> None:
    told = await commands.tell(sh("head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 1"), "", seconds=PLENTY)
    assert told == Told("x" * 8_000)


async def test_at_the_limit_it_is_killed_with_all_that_it_started(commands: Commands, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    argv = sh('trap "" TERM; sleep 600 & echo $! $$ > "$1"; echo busy >&2; wait; wait; sleep 600', str(pids))
    told = await commands.tell(argv, "", seconds=1)
    assert told == Told("/bin/sh did not end within 1 s and was killed: busy")
    for pid in map(int, pids.read_text().split()):
        await until(lambda pid=pid: gone(pid))


async def test_its_end_is_the_end_of_its_leader(commands: Commands, tmp_path: Path) -> None:
    """A command may leave something running that still holds its streams."""
    pid = tmp_path / "pid"
    told = await asyncio.wait_for(commands.tell(sh('sleep 600 & echo $! > "$1"', str(pid)), "", seconds=PLENTY), PLENTY / 2)
    assert told == Told()
    os.kill(int(pid.read_text()), 9)


async def test_who_gives_up_leaves_nothing_running(commands: Commands, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    telling = asyncio.create_task(commands.tell(sh('echo $$ > "$1"; exec sleep 600', str(pid)), "", seconds=PLENTY))
    await until(lambda: pid.exists() and pid.read_text().endswith("\n"))
    telling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await telling
    assert gone(int(pid.read_text()))
