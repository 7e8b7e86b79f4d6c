"""Looks into the files of artifacts: under one approved root, component by component, no link followed (ADR-0078 D3)."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, StateUnavailable
from studio_tui.application.ports.artifacts import VerifiedPreview
from studio_tui.domain.artifacts import stored_path_fault
from studio_tui.files.reading import special_problem, why

VERIFIABLE_BYTES: Final = 256 * 1024 * 1024
"""A longer file is not read whole, so that it cannot be verified, and none of it is shown where a hash is recorded."""

_CHUNK: Final = 1024 * 1024
_STEP: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_OUTSIDE: Final = "the file is outside of the folder that artifacts may be read from"
_LINK: Final = "a link is on the way to the file; links are not followed"


class ArtifactFiles:
    """Implements :class:`~studio_tui.application.ports.artifacts.ArtifactFilePort`. ``root`` is where runs keep their files."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def preview(self, folder: str, relative_path: str, *, max_bytes: int, expected_sha256: str | None) -> VerifiedPreview:
        """At most ``max_bytes`` of one file, the whole of it verified first where a hash is known."""
        parts = self._parts(folder, relative_path)
        return await asyncio.to_thread(self._read, parts, max_bytes, expected_sha256)

    def _parts(self, folder: str, relative_path: str) -> tuple[str, ...]:
        """The way from the root to the file, one name after the other."""
        if stored_path_fault(relative_path) is not None or "\0" in folder:
            raise PermissionDenied(_OUTSIDE)
        for root in (str(self._root), os.path.realpath(self._root)):
            prefix = root.rstrip("/") + "/"
            if folder.startswith(prefix):
                parts = [part for part in f"{folder.removeprefix(prefix)}/{relative_path}".split("/") if part not in ("", ".")]
                if parts and ".." not in parts:
                    return tuple(parts)
        raise PermissionDenied(_OUTSIDE)

    def _read(self, parts: tuple[str, ...], limit: int, expected: str | None) -> VerifiedPreview:
        try:
            with _opened(os.path.realpath(self._root), parts) as descriptor:
                return _verified(descriptor, limit, expected)
        except FileNotFoundError:
            raise NotFound("artifact file", parts[-1]) from None
        except OSError as error:
            raise _closed(error, parts[-1]) from error


@contextmanager
def _opened(root: str, parts: tuple[str, ...]) -> Iterator[int]:
    """The descriptor of a file. Each folder is held open while the next name is looked up in it: swapping one changes nothing."""
    held = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for number, name in enumerate(parts):
            last = number == len(parts) - 1
            status = os.stat(name, dir_fd=held, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                raise PermissionDenied(_LINK)
            if fault := special_problem(status):
                raise PermissionDenied(f"it is {fault}")
            inner = os.open(name, _STEP if last else _STEP | os.O_DIRECTORY, dir_fd=held)
            os.close(held)
            held = inner
        yield held
    finally:
        os.close(held)


def _closed(error: OSError, name: str) -> PermissionDenied | NotFound | StateUnavailable:
    """A failed system call as one of the closed errors. Between the look at a name and its opening a link may have come."""
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return PermissionDenied(_LINK)
    if error.errno in (errno.EACCES, errno.EPERM):
        return PermissionDenied("the file may not be read by this user")
    if error.errno in (errno.ENOTDIR, errno.ENXIO, errno.ENAMETOOLONG):
        return NotFound("artifact file", name)
    return StateUnavailable(f"the file cannot be read: {why(error)}", retryable=True)


def _verified(descriptor: int, limit: int, expected: str | None) -> VerifiedPreview:
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        raise PermissionDenied("it is a folder, not a file" if stat.S_ISDIR(before.st_mode) else "it is not a file")
    if expected is not None and before.st_size > VERIFIABLE_BYTES:
        size = f"{before.st_size / 1024**3:.1f} GiB"
        raise PermissionDenied(f"the file has {size}, which is too much to be verified; none of it is shown")
    data, sha256, truncated = _taken(descriptor, limit, whole=expected is not None)
    after = os.fstat(descriptor)
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        message = "the file was changed while it was read; try again"
        raise Conflict("artifact file", expected=None, actual=None, message=message)
    if expected is not None and sha256 != expected:
        message = "the file is not the one that was recorded: its hash is another one"
        raise Conflict("artifact file", expected=expected, actual=sha256, message=message)
    return VerifiedPreview(data, sha256, truncated)


def _taken(descriptor: int, limit: int, *, whole: bool) -> tuple[bytes, str | None, bool]:
    """The first ``limit`` bytes, the hash of the file where it was read to its end, and whether there was more to it."""
    digest, kept, total = hashlib.sha256(), bytearray(), 0
    most = VERIFIABLE_BYTES if whole else limit
    while total <= most:
        chunk = os.read(descriptor, min(_CHUNK, most + 1 - total))
        if not chunk:
            return bytes(kept), digest.hexdigest(), total > limit
        digest.update(chunk)
        total += len(chunk)
        kept += chunk[: limit - len(kept)]
    return bytes(kept), None, True
