"""What was made of a file, kept for as long as the file stays as it was."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import Final, Generic, TypeVar

T = TypeVar("T")
Stamp = tuple[int, int, int, int, int]

_RACY_NS: Final = 2_000_000_000


def stamp_of(status: os.stat_result) -> Stamp:
    """What differs when a file was edited, replaced, or had its mode changed."""
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)


class StampCache(Generic[T]):
    """Results by path. One that was changed in the last two seconds is not kept: the clock of a file system is coarse, and a
    second edit could bear the same stamp. Safe to use from several threads; at worst something is made twice."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Stamp, T]] = {}

    def get(self, path: str, status: os.stat_result, make: Callable[[], T]) -> T:
        """The kept result, or what ``make`` gives. ``status`` must have been taken before ``make`` reads the file."""
        stamp = stamp_of(status)
        kept = self._kept.get(path)
        if kept is not None and kept[0] == stamp:
            return kept[1]
        made = make()
        if time.time_ns() - status.st_mtime_ns > _RACY_NS:
            self._kept[path] = (stamp, made)
        return made

    def keep_only(self, paths: Iterable[str]) -> None:
        """Forget all other paths."""
        wanted = set(paths)
        self._kept = {path: kept for path, kept in list(self._kept.items()) if path in wanted}
