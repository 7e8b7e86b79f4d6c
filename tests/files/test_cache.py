from __future__ import annotations

import os
from pathlib import Path

from studio_tui.files.cache import StampCache
from tests.files.conftest import age


class _Reads:
    def __init__(self, path: Path) -> None:
        self.path, self.count = path, 0
        self.cache: StampCache[str] = StampCache()

    def get(self) -> str:
        return self.cache.get(str(self.path), self.path.stat(), self._read)

    def _read(self) -> str:
        self.count += 1
        return self.path.read_text()


def test_an_unchanged_file_is_read_once(tmp_path: Path) -> None:
    reads = _Reads(tmp_path / "a")
    reads.path.write_text("one")
    age(reads.path)
    assert [reads.get(), reads.get()] == ["one", "one"]
    assert reads.count == 1


def test_a_change_that_keeps_size_and_time_is_seen(tmp_path: Path) -> None:
    reads = _Reads(tmp_path / "a")
    reads.path.write_text("one")
    age(reads.path)
    reads.get()
    before = reads.path.stat()
    reads.path.write_text("two")
    os.utime(reads.path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert reads.get() == "two"


def test_a_file_replaced_by_another_is_seen(tmp_path: Path) -> None:
    reads = _Reads(tmp_path / "a")
    reads.path.write_text("one")
    age(reads.path)
    reads.get()
    (tmp_path / "b").write_text("new")
    age(tmp_path / "b")
    (tmp_path / "b").replace(reads.path)
    assert reads.get() == "new"


def test_a_file_written_this_moment_is_not_kept(tmp_path: Path) -> None:
    reads = _Reads(tmp_path / "a")
    reads.path.write_text("one")
    reads.get()
    reads.get()
    assert reads.count == 2


def test_what_is_not_wanted_any_more_is_forgotten(tmp_path: Path) -> None:
    reads = _Reads(tmp_path / "a")
    reads.path.write_text("one")
    age(reads.path)
    reads.get()
    reads.cache.keep_only([str(reads.path)])
    reads.get()
    assert reads.count == 1
    reads.cache.keep_only([])
    reads.get()
    assert reads.count == 2
