"""One small file per launched firing: which process it became and who waits for it.

``schedule_runs`` has no column for a process, so this is what the next host goes by. A note is written before the process is
started (without an identity) and completed right after, so that no crash leaves a process that nobody has a trace of.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from studio_tui.application.ports import LaunchNote
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.processes.liveness import identify, own_identity
from studio_tui.processes.runlogs import checked_run_id, private_directory
from studio_tui.processes.stop import marked

SUFFIX: Final = ".pid.json"

KEPT_NOTES: Final = 2000
"""How many notes are kept; the oldest go first."""


class LaunchNotes:
    """Implements :class:`studio_tui.application.ports.LaunchNotePort` and writes the notes."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def begin(self, run_id: str) -> None:
        """Note that a process is about to be started. Raises :class:`OSError` when nothing can be written there."""
        private_directory(self._directory)
        self._write(LaunchNote(run_id, time.time(), None, own_identity()))

    def started(self, run_id: str, identity: ProcessIdentity) -> None:
        """Note which process it became."""
        self._write(LaunchNote(run_id, time.time(), identity, own_identity()))

    def release(self, run_id: str) -> None:
        """Note that nobody waits for the process any more."""
        note = self._read(run_id)
        if note is not None:
            self._write(LaunchNote(run_id, note.at, note.identity, None))

    def recall(self, run_id: str) -> LaunchNote | None:
        """The note of a firing; ``None`` when there is none or it cannot be read.

        A note without a process was left by a host that died while it started one: that one is looked for by its mark.
        """
        note = self._read(run_id)
        if note is None or note.identity is not None:
            return note
        return LaunchNote(run_id, note.at, _marked_leader(run_id), note.supervisor)

    def forget(self, run_id: str) -> None:
        """Drop the note of a firing that has ended."""
        with suppress(OSError, ValueError):
            self._path(run_id).unlink(missing_ok=True)

    def prune(self) -> None:
        """Remove the oldest notes beyond the number kept: those of firings that somebody else ended."""
        found = sorted(self._directory.glob(f"*{SUFFIX}"), key=_modified)
        for path in found[: max(0, len(found) - KEPT_NOTES)]:
            with suppress(OSError):
                path.unlink()

    def _read(self, run_id: str) -> LaunchNote | None:
        try:
            stored = json.loads(self._path(run_id).read_text("utf-8"))
            return LaunchNote(run_id, float(stored["at"]), _identity(stored["process"]), _identity(stored["supervisor"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _path(self, run_id: str) -> Path:
        return self._directory / f"{checked_run_id(run_id)}{SUFFIX}"

    def _write(self, note: LaunchNote) -> None:
        path = self._path(note.run_id)
        text = json.dumps({"at": note.at, "process": _stored(note.identity), "supervisor": _stored(note.supervisor)})
        draft = path.with_name(f".{path.name}.new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _marked_leader(run_id: str) -> ProcessIdentity | None:
    for pid in marked(run_id):
        with suppress(ProcessLookupError):
            if os.getpgid(pid) == pid:
                return identify(pid)
    return None


def _stored(identity: ProcessIdentity | None) -> dict[str, object] | None:
    if identity is None:
        return None
    return {
        "pid": identity.pid,
        "created_at": identity.created_at,
        "host": identity.host,
        "boot_time": identity.boot_time,
    }


def _identity(stored: object) -> ProcessIdentity | None:
    if stored is None:
        return None
    if not isinstance(stored, dict):
        raise TypeError("an identity is an object")
    return ProcessIdentity(int(stored["pid"]), stored["created_at"], stored["host"], stored["boot_time"])
