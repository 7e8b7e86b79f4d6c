"""Reading a file that may be anything: never waiting for it, never more of it than asked for, and failing in plain words."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_REASONS: Final = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENOENT: "not there any more",
    errno.EISDIR: "a folder, not a file",
    errno.ENOTDIR: "a file, not a folder",
    errno.ELOOP: "a link that leads back to itself",
    errno.ENAMETOOLONG: "its name is too long",
}

_SPECIAL: Final = (
    (stat.S_ISFIFO, "a pipe; not opened"),
    (stat.S_ISSOCK, "a socket; not opened"),
    (stat.S_ISCHR, "a device; not opened"),
    (stat.S_ISBLK, "a device; not opened"),
)


def why(error: OSError) -> str:
    """The reason of a failed system call in plain words, without a path."""
    return _REASONS.get(error.errno or 0) or (error.strerror or type(error).__name__).lower()


def special_problem(status: os.stat_result) -> str | None:
    """Why something that is neither file nor folder is not opened."""
    for is_special, reason in _SPECIAL:
        if is_special(status.st_mode):
            return reason
    return None


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes of a file with the status it had when it was opened; ``complete`` when they are all of it."""

    data: bytes
    status: os.stat_result
    complete: bool


def read_file(path: str | Path, limit: int) -> Blob:
    """At most ``limit`` bytes from the start of a regular file. Raises :class:`OSError`.

    It does not wait even if a pipe took the file's place since it was judged.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb", buffering=0) as handle:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, special_problem(status) or "not a regular file")
        chunks: list[bytes] = []
        left = limit + 1
        while left > 0 and (chunk := handle.read(left)):
            chunks.append(chunk)
            left -= len(chunk)
    data = b"".join(chunks)
    return Blob(data[:limit], status, complete=len(data) <= limit)
