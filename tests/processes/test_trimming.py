"""Output without end: the beginning and the end are kept, the disk is not filled, and the file says what went."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from studio_tui.processes.runlogs import RunLogs
from tests.processes.conftest import Layer
from tests.processes.waiting import until

LIMIT = 1000


@pytest.fixture
def logs(tmp_path: Path) -> RunLogs:
    return RunLogs(tmp_path, limit=LIMIT)


class Writer:
    """Holds a stream open as a process does."""

    def __init__(self, logs: RunLogs) -> None:
        self.out, self.err = logs.open("aaa")
        self.count = 0

    def lines(self, number: int) -> None:
        for _ in range(number):
            os.write(self.out, f"line {self.count:04}\n".encode())
            self.count += 1


def test_a_little_is_left_as_it_is(logs: RunLogs, tmp_path: Path) -> None:
    Writer(logs).lines(100)
    assert logs.trim("aaa"), "more may come soon"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["aaa.err", "aaa.out"]


def test_nothing_written_is_nothing_to_trim(logs: RunLogs, tmp_path: Path) -> None:
    assert not logs.trim("aaa")
    Writer(logs)
    assert not logs.trim("aaa")
    assert (tmp_path / "aaa.out").read_bytes() == b""


def test_beginning_and_end_are_kept_and_the_file_says_so(logs: RunLogs, tmp_path: Path) -> None:
    writer = Writer(logs)
    for _ in range(10):
        writer.lines(150)
        logs.trim("aaa")
        writer.lines(10)
    assert (tmp_path / "aaa.out.1").read_text().startswith("line 0000\nline 0001\n")
    assert (tmp_path / "aaa.out.2").read_text().endswith("line 1589\n")
    present = (tmp_path / "aaa.out").read_text()
    assert "bytes were written before this line; kept are the first in aaa.out.1 and the last in aaa.out.2" in present
    assert present.endswith("line 1599\n")
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 4 * LIMIT
    tail = logs.tail("aaa", limit=500)
    assert tail is not None
    assert "line 1589\n[studio-tui: " in tail.stdout, "it goes on over the seam"
    assert tail.stdout.endswith("line 1599\n")
    said = 10 * len("[studio-tui: 0,000 bytes")
    assert 1600 * 10 < tail.stdout_bytes < 1600 * 10 + 10 * said * 20


def test_all_of_it_goes_with_its_firing(logs: RunLogs, tmp_path: Path) -> None:
    Writer(logs).lines(500)
    logs.trim("aaa")
    logs.discard("aaa")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_costs_nothing_more(logs: RunLogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer(logs)
    writer.lines(500)

    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("studio_tui.processes.trimming._copy", full)
        logs.trim("aaa")
    assert (tmp_path / "aaa.out").stat().st_size == 5000
    logs.trim("aaa")
    assert (tmp_path / "aaa.out").stat().st_size < LIMIT


async def test_half_a_gigabyte_of_a_real_process(layer: Layer) -> None:
    logs = RunLogs(layer.directory, limit=1_000_000)
    script = "echo first; yes 'a line of fifty characters, again and again, no end' | head -c 500000000; echo; echo last"
    child = await layer.processes.launch(layer.spec("aaa", "sh", "-c", script))
    ended, most = asyncio.ensure_future(child.wait()), 0

    def trimmed() -> bool:
        nonlocal most
        most = max(most, (layer.directory / "aaa.out").stat().st_size)
        logs.trim("aaa")
        return ended.done()

    await until(trimmed)
    logs.trim("aaa")
    assert ended.result() == 0
    tail = logs.tail("aaa", limit=500)
    assert tail is not None
    assert "last\n" in tail.stdout
    assert "[studio-tui: " in tail.stdout
    assert (layer.directory / "aaa.out.1").read_text().startswith("first\n")
    assert sum(path.stat().st_size for path in layer.directory.glob("aaa.out*")) < 4_000_000
    assert tail.stdout_bytes > 100_000_000, "as far as it was seen"
