"""Records of saves that may be half done, one small file each (implements ``ReconciliationPort``).

They are files and not rows: each must be on the disk before the first half of its save, and gone after the second, and nothing
else may be in the way of that.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.ports.definition_writes import PendingSave

_ID: Final = re.compile(r"[0-9a-f]{1,32}\Z")
_SUFFIX: Final = ".json"
_LARGEST: Final = 16_384


class Reconciliations:
    """Implements :class:`~studio_tui.application.ports.definition_writes.ReconciliationPort` in ``directory``."""

    def __init__(self, directory: Path) -> None:
        self._folder = directory / "reconciliations"

    async def keep(self, pending: PendingSave) -> None:
        """Write a record, in place of one of the same id; it is on the disk when this returns."""
        await asyncio.to_thread(self._keep, pending)

    async def drop(self, reconciliation_id: str) -> None:
        """Delete a record."""
        await asyncio.to_thread(self._drop, reconciliation_id)

    async def pending(self) -> tuple[PendingSave, ...]:
        """Every record that can be read, the oldest first."""
        return await asyncio.to_thread(self._pending)

    # --- in a thread --------------------------------------------------------------------------------------------------

    def _path(self, reconciliation_id: str) -> Path | None:
        return self._folder / f"{reconciliation_id}{_SUFFIX}" if _ID.match(reconciliation_id) else None

    def _keep(self, pending: PendingSave) -> None:
        path = self._path(pending.reconciliation_id)
        if path is None:
            raise ValueError("an id of a record has hex digits only")
        fresh = path.with_suffix(".new")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as handle:
                json.dump(asdict(pending), handle)
                handle.flush()
                os.fsync(descriptor)
            fresh.replace(path)
            _sync(self._folder)
        except OSError as error:
            with suppress(OSError):
                fresh.unlink()
            reason = (error.strerror or type(error).__name__).lower()
            raise StateUnavailable(f"what is being saved cannot be noted beside the store: {reason}", retryable=True) from error

    def _drop(self, reconciliation_id: str) -> None:
        path = self._path(reconciliation_id)
        if path is None:
            return
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise StateUnavailable(f"the record of a save cannot be removed: {reason}", retryable=True) from error

    def _pending(self) -> tuple[PendingSave, ...]:
        try:
            names = sorted(os.listdir(self._folder))
        except OSError:
            return ()
        found = [record for name in names if (record := self._read(name)) is not None]
        return tuple(sorted(found, key=lambda record: (record.begun_at, record.reconciliation_id)))

    def _read(self, name: str) -> PendingSave | None:
        path = self._path(name.removesuffix(_SUFFIX)) if name.endswith(_SUFFIX) else None
        if path is None:
            return None
        try:
            with path.open("rb") as handle:
                record = PendingSave(**json.loads(handle.read(_LARGEST)))
        except (OSError, ValueError, TypeError):
            return None
        return record if record.reconciliation_id == path.stem and _is_whole(record) else None


def _is_whole(record: PendingSave) -> bool:
    texts = (record.kind, record.name, record.sha256)
    known = all(isinstance(text, str) for text in texts) and isinstance(record.begun_at, int | float)
    optional = isinstance(record.version, int | None) and isinstance(record.reason, str | None)
    return known and optional


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
