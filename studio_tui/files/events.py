"""Events of folders from the system, by watchfiles, in a thread of their own.

The watch is on each folder by itself and never recursive: a link to ``/`` under a root must not watch the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Final

DEBOUNCE_MS: Final = 250
STEP_MS: Final = 100
"""Events are handed on after a step without further ones, at the latest after the debounce time."""

_MODIFIED: Final = 2
_TEMPORARY: Final = ("~", ".swp", ".swx", ".swo", ".tmp", ".bak")
_MEANT: Final = (".md", ".yaml")


def matters(change: int, path: str) -> bool:
    """Whether an event may be about a definition or a show, and not about an editor's own files or a log that grows.

    ``change`` is the number that watchfiles gives: 1 added, 2 modified, 3 deleted.
    """
    name = os.path.basename(path)
    if name.startswith((".", "#")) or name.endswith(_TEMPORARY) or name == "4913":  # vim tries a folder with a file 4913
        return False
    return change != _MODIFIED or name.startswith("_") or name.endswith(_MEANT)


class FolderEvents:
    """Calls ``on_event`` in the loop when something that matters happened, or when the watch broke (then ``failure`` says why).

    ``limited`` tells that a limit of the system was the cause. A failed watch is not taken up again: make another one.
    """

    def __init__(self, folders: Sequence[str], on_event: Callable[[], None]) -> None:
        self.failure: str | None = None
        self.limited = False
        self._folders = list(folders)
        self._on_event = on_event
        self._loop = asyncio.get_running_loop()
        self._settled = asyncio.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="folder-events", daemon=True)

    async def start(self) -> None:
        """Returns when the watch is in place or has failed."""
        self._thread.start()
        await self._settled.wait()

    async def close(self) -> None:
        """End the watch, within a step."""
        self._stop.set()
        if self._thread.ident is not None:
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        # The documented backend, not watchfiles.watch(): that cannot tell when the watch is in place. Permission errors are not
        # ignored, because watchfiles 1.3 then ignores a reached limit too and stays silent for ever.
        from watchfiles._rust_notify import RustNotify

        try:
            with RustNotify(self._folders, False, False, 0, False, False) as watcher:
                self._tell(self._settled.set)
                while True:
                    changes = watcher.watch(DEBOUNCE_MS, STEP_MS, 0, self._stop)
                    if not isinstance(changes, set):
                        return
                    self._take(changes)
        except (OSError, RuntimeError, ValueError) as error:
            self.limited, self.failure = _explain(error)
        finally:
            self._tell(self._settled.set)
            if self.failure is not None:
                self._tell(self._on_event)

    def _take(self, changes: Iterable[tuple[int, str]]) -> None:
        if any(matters(change, path) for change, path in changes):
            self._tell(self._on_event)

    def _tell(self, act: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(act)


def _explain(error: Exception) -> tuple[bool, str]:
    """Whether a limit was reached, and the reason in words."""
    text = str(error)
    if "watch limit" in text:
        return True, "the system allows no more watched folders (fs.inotify.max_user_watches)"
    if "os error 24" in text or "os error 23" in text:
        return True, "the system allows no more watchers (fs.inotify.max_user_instances)"
    if "decode" in text:
        return False, "a file name that is not UTF-8 broke the watch"
    if isinstance(error, FileNotFoundError):
        return False, "a folder went away meanwhile"
    return False, "the watch broke"
