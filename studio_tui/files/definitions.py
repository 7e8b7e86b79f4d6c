"""Reads agents, playbooks and skills from disk: the list from a cache by stamp, one definition always afresh."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from studio_tui.domain.definitions import FILE_KINDS, FileDefinition
from studio_tui.files.cache import StampCache
from studio_tui.files.contained import name_problem
from studio_tui.files.definition_index import Candidate, RootIndex
from studio_tui.files.frontmatter import Head, markdown_head, yaml_head
from studio_tui.files.reading import Blob, read_file, why
from studio_tui.files.roots import Roots
from studio_tui.files.skill_index import SkillIndex

LIST_BYTES: Final = 1024 * 1024
"""A file that is longer is not read whole for a list."""

CONTENT_BYTES: Final = 8 * 1024 * 1024
"""A file that is longer is not read whole at all."""

_HEAD_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class _Reading:
    """What was made of a file's bytes. ``sha256`` is ``None`` when they were not all read; ``status`` is as it was then."""

    head: Head
    status: os.stat_result | None = None
    sha256: str | None = None
    content: str | None = None


class DefinitionFiles:
    """Implements :class:`~studio_tui.application.ports.DefinitionFilesPort`. All work is done in threads."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._cache: StampCache[_Reading] = StampCache()

    async def list_definitions(self) -> tuple[FileDefinition, ...]:
        """Every definition by kind and name, without content. A root that cannot be listed is a record with ``error``."""
        return await asyncio.to_thread(self._list)

    async def read_definition(self, kind: str, name: str) -> FileDefinition | None:
        """One definition with content; ``None`` when the kind has no files or the name means none."""
        return await asyncio.to_thread(self._read, kind, name) if kind in FILE_KINDS else None

    def _list(self) -> tuple[FileDefinition, ...]:
        found: list[FileDefinition] = []
        paths: list[str] = []
        for kind in FILE_KINDS:
            index = self._index(kind)
            if index.problem is not None:
                folder = self._roots.of_kind(kind).name
                found.append(FileDefinition(kind, folder, ".", 0, None, error=f"the folder {folder}: {index.problem}"))
            for candidate in index.candidates():
                paths.append(candidate.entry.path)
                record = self._summary(kind, candidate)
                if record is not None:
                    found.append(record)
        self._cache.keep_only(paths)
        return tuple(found)

    def _read(self, kind: str, name: str) -> FileDefinition | None:
        if name_problem(name) is None:
            # First by itself, so that a name costs the same in a root of any size; other folders are the last place to look.
            candidate = self._index(kind, only=name).find(name) or self._index(kind).find(name)
        else:  # never looked up as a path, but what the list shows must open, if only to say why it does not
            candidate = next((one for one in self._index(kind).candidates() if one.name == name), None)
        if candidate is None:
            return None
        if candidate.problem is not None:
            return _record(kind, candidate)
        return _attempt(kind, candidate, lambda: _reading(candidate, CONTENT_BYTES, keep=True))

    def _index(self, kind: str, *, only: str | None = None) -> RootIndex | SkillIndex:
        root = self._roots.of_kind(kind)
        return SkillIndex(root, only=only) if kind == "skill" else RootIndex(kind, root, only=only)

    def _summary(self, kind: str, candidate: Candidate) -> FileDefinition | None:
        status = candidate.entry.status
        if candidate.problem is not None or status is None:
            return _record(kind, candidate)
        limit = LIST_BYTES if status.st_size <= LIST_BYTES else _HEAD_BYTES
        path = candidate.entry.path
        return _attempt(kind, candidate, lambda: self._cache.get(path, status, lambda: _reading(candidate, limit)))


def _attempt(kind: str, candidate: Candidate, read: Callable[[], _Reading]) -> FileDefinition | None:
    """The record of a file that may be read; ``None`` when it went away since it was listed."""
    try:
        return _record(kind, candidate, read())
    except FileNotFoundError:
        return None
    except OSError as error:
        return _record(kind, candidate, _Reading(Head(error=why(error))))


def _reading(candidate: Candidate, limit: int, *, keep: bool = False) -> _Reading:
    """Read and judge one file. Raises :class:`OSError`, so that a failure to read is never kept."""
    blob = read_file(candidate.entry.path, limit)
    markdown = candidate.entry.name.endswith(".md")
    if not blob.complete:
        return _cut(blob, markdown=markdown, keep=keep)
    sha256 = hashlib.sha256(blob.data).hexdigest()
    try:
        text = blob.data.decode("utf-8")
    except UnicodeDecodeError as error:
        fault = f"not UTF-8 text: byte {blob.data[error.start]:#04x} at position {error.start}"
        return _Reading(Head(error=fault), blob.status, sha256)
    head = markdown_head(text) if markdown else yaml_head(text)
    return _Reading(head, blob.status, sha256, text if keep else None)


def _cut(blob: Blob, *, markdown: bool, keep: bool) -> _Reading:
    """What the beginning of a long file tells: its front matter, if it is Markdown."""
    size = f"{blob.status.st_size / (1024 * 1024):.1f} MiB"
    if keep:
        return _Reading(Head(error=f"too long to be shown: {size}"), blob.status)
    if not markdown:
        return _Reading(Head(error=f"too long to be read for the list: {size}"), blob.status)
    head = markdown_head(blob.data.decode("utf-8", "replace"), complete=False)
    return _Reading(replace(head, notes=(*head.notes, f"only its beginning was read: {size}")), blob.status)


def _record(kind: str, candidate: Candidate, reading: _Reading | None = None) -> FileDefinition:
    reading = reading or _Reading(Head())
    head, status = reading.head, reading.status or candidate.entry.status
    named = (f"its front matter says name: {head.name}",) if kind == "skill" and head.name not in {None, candidate.name} else ()
    return FileDefinition(
        kind=kind,
        name=candidate.name,
        relative_path=candidate.relative_path,
        size_bytes=0 if status is None or candidate.entry.is_folder else status.st_size,
        modified_at=None if status is None else status.st_mtime,
        content=reading.content,
        sha256=reading.sha256,
        description=head.description,
        error=candidate.problem or head.error,
        notes=(*candidate.notes, *named, *head.notes),
    )
