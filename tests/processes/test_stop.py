"""Stopping a group: everything in it goes, what left it is reported, what is not proven ours is not touched."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from studio_tui.processes.liveness import alive, identify
from studio_tui.processes.stop import stop_group
from tests.processes.conftest import DATA, Layer
from tests.processes.waiting import until


async def _line(layer: Layer, text: str) -> None:
    """Wait until the firing has written this."""
    await until(lambda: text in (tail.stdout if (tail := layer.logs.tail("aaa", limit=10_000)) else ""))


def _family(mark: str) -> dict[str, int]:
    lines = Path(f"/tmp/{mark}.pids").read_text().split("\n")
    return {name: int(pid) for name, pid in (line.split() for line in lines if line)}


async def test_a_whole_family_is_stopped_and_the_one_that_left_is_named(layer: Layer, tmp_path: Path) -> None:
    mark = f"orphan-tree-{os.getpid()}-{tmp_path.name}"
    child = await layer.processes.launch(layer.spec("aaa", str(DATA / "orphan-tree.sh"), mark))
    try:
        await _line(layer, "family is up")
        await until(lambda: len(_family(mark)) == 5)
        family = {name: identify(pid) for name, pid in _family(mark).items()}
        report = await child.terminate(grace=1.0)
        assert report.refused is None
        assert report.left == ()
        assert report.killed >= 1, "the stubborn one ignores TERM"
        assert await child.wait() == 143, "the leader had its say"
        assert family["own-session"].pid in report.escaped
        assert {os.getpgid(pid) for pid in report.escaped} == {family["own-session"].pid}
        lives = {name: alive(identity) for name, identity in family.items()}
        assert lives == {"child": False, "stubborn": False, "own-session": True, "stopped": False, "leader": False}
    finally:
        _remove_family(mark)


def _remove_family(mark: str) -> None:
    for pid in _family(mark).values():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    Path(f"/tmp/{mark}.pids").unlink()


@pytest.fixture
def stranger(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """A process that we did not launch through the layer; with the parameter ``True`` it leads a group of its own."""
    process = subprocess.Popen(["sleep", "60"], start_new_session=request.param)
    yield process
    process.kill()
    process.wait()


async def test_term_is_enough_for_the_polite(layer: Layer) -> None:
    child = await layer.processes.launch(
        layer.spec("aaa", "sh", "-c", "trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done")
    )
    await _line(layer, "up")
    report = await child.terminate(grace=10)
    assert (report.killed, report.left, report.escaped) == (0, (), ())
    assert await child.wait() == 7
    await _line(layer, "bye")


async def test_the_stubborn_are_killed_after_the_grace(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", "sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.05; done"))
    await _line(layer, "up")
    report = await child.terminate(grace=0.2)
    assert report.killed >= 1
    assert await child.wait() == -signal.SIGKILL


async def test_a_stopped_leader_gets_its_term(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", "sleep", "60"))
    os.kill(child.identity.pid, signal.SIGSTOP)
    report = await child.terminate(grace=10)
    assert report.killed == 0
    assert await child.wait() == -signal.SIGTERM


@pytest.mark.parametrize("stranger", [True], indirect=True)
async def test_a_pid_that_means_somebody_else_gets_no_signal(stranger: subprocess.Popen[bytes]) -> None:
    identity = identify(stranger.pid)
    old = dataclasses.replace(identity, created_at=(identity.created_at or 0) - 86_400)
    for claimed in (old, dataclasses.replace(identity, host="elsewhere"), dataclasses.replace(identity, created_at=None)):
        report = await stop_group(claimed, grace=0.1)
        assert report.refused is not None
        assert stranger.poll() is None


@pytest.mark.parametrize("stranger", [False], indirect=True)
async def test_what_leads_no_group_of_its_own_gets_no_signal(stranger: subprocess.Popen[bytes]) -> None:
    report = await stop_group(identify(stranger.pid), grace=0.1)
    assert report.refused == f"process {stranger.pid} does not lead its group"
    assert stranger.poll() is None


async def test_stopping_what_has_ended_says_so(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", "true"))
    await child.wait()
    report = await child.terminate(grace=1)
    assert report.refused == f"process {child.identity.pid} has ended"


async def test_a_process_of_an_earlier_host_is_stopped_by_its_identity(layer: Layer) -> None:
    child = await layer.processes.launch(layer.spec("aaa", "sleep", "60"))
    assert (await layer.processes.stop(child.identity, grace=5)).refused is None
    assert await child.wait() == -signal.SIGTERM


@pytest.mark.parametrize("size", [100_000_000])
async def test_much_output_on_both_streams_costs_the_loop_nothing(layer: Layer, size: int) -> None:
    writer = f"head -c {size} /dev/zero & head -c {size} /dev/zero >&2; wait"
    child = await layer.processes.launch(layer.spec("aaa", "sh", "-c", writer))
    before = _resident()
    assert await child.wait() == 0
    assert _resident() - before < 20_000_000
    tail = layer.logs.tail("aaa", limit=2048)
    assert tail is not None
    assert (tail.stdout_bytes, tail.stderr_bytes) == (size, size)


def _resident() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)
