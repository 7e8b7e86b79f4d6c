"""What firings wrote: two files each, written by the processes themselves.

A process writes to its files and not to a pipe of ours: it outlives the console without a broken pipe, a helper that keeps a
stream open holds nobody up, and much output costs the event loop nothing. One that writes without end is trimmed
(:mod:`studio_tui.processes.trimming`).
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from studio_tui.application.ports import OutputTail
from studio_tui.processes import trimming

KEPT_FILES: Final = 2000
"""How many files of output are kept, with their parts; the oldest go first."""

_STREAMS: Final = (".out", ".err")
_RUN_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CUT_CHARACTER: Final = 3


def checked_run_id(run_id: str) -> str:
    """The id, proven to be a plain file name. Raises :class:`ValueError` when it is not."""
    if not _RUN_ID.fullmatch(run_id):
        raise ValueError(f"{run_id!r} is not an id of a firing")
    return run_id


def private_directory(directory: Path) -> None:
    """Make a directory that only its owner may enter, and the missing ones above it."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)


class RunLogs:
    """Implements :class:`studio_tui.application.ports.RunLogPort`."""

    def __init__(self, directory: Path, *, keep: int = KEPT_FILES, limit: int = trimming.LIMIT) -> None:
        self._directory = directory
        self._keep, self._limit = keep, limit

    def open(self, run_id: str) -> tuple[int, int]:
        """Descriptors to append stdout and stderr of a firing to. Raises :class:`OSError` when that cannot be done."""
        private_directory(self._directory)
        out = self._open(run_id, ".out")
        try:
            return out, self._open(run_id, ".err")
        except OSError:
            os.close(out)
            raise

    def tail(self, run_id: str, *, limit: int) -> OutputTail | None:
        """The last ``limit`` bytes of each stream as text, bad bytes marked; ``None`` when nothing was kept."""
        try:
            out, err = (self._end_of(self._path(run_id, suffix), limit) for suffix in _STREAMS)
        except ValueError:
            return None
        if out is None and err is None:
            return None
        (out_text, out_bytes), (err_text, err_bytes) = out or ("", 0), err or ("", 0)
        return OutputTail(out_text, err_text, out_bytes, err_bytes)

    def trim(self, run_id: str) -> bool:
        """Trim what a firing wrote, where it is too much; whether it may soon be too much again. Blocking."""
        return max(trimming.trim(self._path(run_id, suffix), self._limit) for suffix in _STREAMS) > self._limit // 4

    def discard(self, run_id: str) -> None:
        """Remove the files of a firing that never ran."""
        for suffix in _STREAMS:
            trimming.discard(self._path(run_id, suffix))

    def prune(self) -> int:
        """Remove the oldest files beyond the number kept, sparing firings that run; how many went."""
        found = self._files()
        running = {name.removesuffix(".pid.json") for name in _names(self._directory) if name.endswith(".pid.json")}
        surplus = [path for _, path in sorted(found)[: max(0, len(found) - self._keep)] if path.stem not in running]
        for path in surplus:
            trimming.discard(path)
        return len(surplus)

    def _files(self) -> list[tuple[float, Path]]:
        found = []
        for name in _names(self._directory):
            if name.endswith(_STREAMS):
                with suppress(OSError):
                    path = self._directory / name
                    found.append((path.stat().st_mtime, path))
        return found

    def _path(self, run_id: str, suffix: str) -> Path:
        return self._directory / f"{checked_run_id(run_id)}{suffix}"

    def _open(self, run_id: str, suffix: str) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(self._path(run_id, suffix), flags, 0o600)

    def _end_of(self, path: Path, limit: int) -> tuple[str, int] | None:
        try:
            with path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                start = max(0, size - limit)
                file.seek(start)
                data = file.read(limit)
        except OSError:
            return None
        gone = trimming.removed(path)
        if start == 0 and gone:
            data = trimming.earlier(path, limit - len(data)) + data
        return _decoded(data, cut=start > 0 or gone > 0), size + gone


def _names(directory: Path) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _decoded(data: bytes, *, cut: bool) -> str:
    """Text of bytes; a letter that the cut went through is left out rather than shown as broken."""
    if cut:
        skipped = 0
        while skipped < min(_CUT_CHARACTER, len(data)) and data[skipped] & 0xC0 == 0x80:
            skipped += 1
        data = data[skipped:]
    return data.decode("utf-8", errors="replace")
