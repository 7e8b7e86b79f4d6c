"""Reads the small files of a shows root: JSON that a runner may be writing this moment, and text for people.

A file that is not there is nothing special; one that cannot be read or understood is a problem in words. Links are followed
only within the root: shows are written by whatever runs them.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from studio_tui.files.cache import StampCache, stamp_of
from studio_tui.files.contained import inside
from studio_tui.files.reading import read_file, why

JSON_BYTES: Final = 1024 * 1024
TEXT_BYTES: Final = 256 * 1024
OUTSIDE: Final = "a link out of the shows root; not followed"

_FRESH_SECONDS: Final = 2.0
_PAUSE_SECONDS: Final = 0.02
_MAX_PAUSES: Final = 10


@dataclass(frozen=True, slots=True)
class JsonFile:
    """An object, or a problem, or neither when the file is not there. ``modified_at`` is in epoch seconds."""

    value: Mapping[str, object] = field(default_factory=dict)
    problem: str | None = None
    modified_at: float | None = None


class ShowDocuments:
    """One round of reading under the resolved ``root``. Blocks: run it in a thread."""

    def __init__(self, root: str, cache: StampCache[JsonFile]) -> None:
        self._root = root
        self._cache = cache
        self._pauses = _MAX_PAUSES
        self.seen: list[str] = []

    def json(self, path: str) -> JsonFile:
        """The JSON object in a file. Broken text of a file that is being written is read once more."""
        self.seen.append(path)
        try:
            status = self._status(path)
            return self._cache.get(path, status, lambda: self._settled(path, status))
        except FileNotFoundError:
            return JsonFile()
        except OSError as error:
            return JsonFile(problem=why(error))

    def text(self, path: str, limit: int = TEXT_BYTES) -> tuple[str | None, str | None]:
        """The text of a file and a problem. Bytes that are not UTF-8 are replaced; what is cut says so at its end."""
        try:
            self._status(path)
            blob = read_file(path, limit)
        except FileNotFoundError:
            return None, None
        except OSError as error:
            return None, why(error)
        text = blob.data.decode("utf-8", "replace")
        if blob.complete:
            return text, None
        return f"{text}\n[cut: the first {limit // 1024} KiB of {blob.status.st_size // 1024} KiB]\n", None

    def _status(self, path: str) -> os.stat_result:
        """The status of a file that may be opened. Raises :class:`OSError`."""
        status = os.lstat(path)
        if not stat.S_ISLNK(status.st_mode):
            return status
        target = os.stat(path)
        if not inside(os.path.realpath(path), self._root):
            raise OSError(0, OUTSIDE)
        return target

    def _settled(self, path: str, status: os.stat_result) -> JsonFile:
        """The file as it is, or as it is a moment later when it looks half written."""
        first = self._parse(path)
        if first.problem is None or not self._may_be_torn(path, status):
            return first
        if self._pauses > 0:  # many fresh broken files at once must not add up
            self._pauses -= 1
            time.sleep(_PAUSE_SECONDS)
        return self._parse(path)

    def _may_be_torn(self, path: str, status: os.stat_result) -> bool:
        return time.time() - status.st_mtime < _FRESH_SECONDS or stamp_of(os.stat(path)) != stamp_of(status)

    def _parse(self, path: str) -> JsonFile:
        blob = read_file(path, JSON_BYTES)
        modified_at = blob.status.st_mtime
        if not blob.complete:
            return JsonFile(problem=f"longer than {JSON_BYTES // 1024} KiB", modified_at=modified_at)
        try:
            value = json.loads(blob.data.decode("utf-8-sig"))
        except json.JSONDecodeError as error:
            return JsonFile(problem=f"not JSON: line {error.lineno}: {error.msg}", modified_at=modified_at)
        except UnicodeDecodeError:
            return JsonFile(problem="not UTF-8 text", modified_at=modified_at)
        except (ValueError, RecursionError):
            return JsonFile(problem="not JSON that can be read", modified_at=modified_at)
        if not isinstance(value, dict):
            return JsonFile(problem="not a JSON object", modified_at=modified_at)
        return JsonFile(value, None, modified_at)
