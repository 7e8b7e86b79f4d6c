"""Upkeep of the store as the operations need it (ADR-0056, ADR-0078 D3)."""

from __future__ import annotations

from typing import Protocol


class MaintenancePort(Protocol):
    """The store as a file or a server that wants upkeep. Raises :class:`PermissionDenied` where it may not be written."""

    async def checkpoint(self, mode: str) -> tuple[int, int, int] | None:
        """Move the log into the file: (busy, pages in the log, pages moved); ``None`` on a server."""
        ...

    async def vacuum(self) -> None:
        """Rewrite the store without the room of deleted rows."""
        ...

    async def integrity(self, *, limit: int) -> tuple[str, ...] | None:
        """What a check of the whole store finds, at most ``limit`` findings; empty is sound, ``None`` on a server, which looks
        after that itself."""
        ...

    def size_bytes(self) -> int | None:
        """The size of the file; ``None`` on a server."""
        ...
