"""Which files are skills, and which of them a name means (lionagi 0.36, facts 8.4).

A skill is a folder with ``SKILL.md``, ``<folder>.md`` or any Markdown file, in this order, or a Markdown file of the root.
Entries that begin with ``_`` are none. A folder goes before a file of the same name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from studio_tui.files.contained import Entry, Listing, probe, scan
from studio_tui.files.definition_index import MAX_FOLDERS, Candidate, candidate

_SUFFIX: Final = ".md"


class SkillIndex:
    """One look at the root of skills. Blocks: run it in a thread."""

    def __init__(self, root: Path, *, only: str | None = None) -> None:
        """Look at all, or only at what stands under one name."""
        self._real = os.path.realpath(root)
        if only is None:
            top = scan(root, self._real, lambda name, is_folder: not name.startswith("_") and (is_folder or _is_markdown(name)))
        else:
            top = probe(root, self._real, () if only.startswith("_") else (only, only + _SUFFIX))
        self.problem = top.problem
        self._files = {entry.name: entry for entry in top.entries if not entry.is_folder}
        folders = [entry for entry in top.entries if entry.is_folder]
        if len(folders) > MAX_FOLDERS:
            self.problem = f"more than {MAX_FOLDERS} folders; the rest is not shown"
        self._folders = {entry.name: entry for entry in folders[:MAX_FOLDERS]}

    def candidates(self) -> Iterator[Candidate]:
        """Every skill by name. A folder without a Markdown file is none, as for lionagi."""
        names = {*self._folders, *(name.removesuffix(_SUFFIX) for name in self._files)}
        for name in sorted(names):
            found = self.find(name)
            if found is not None:
                yield found

    def find(self, name: str) -> Candidate | None:
        """The file that a name means."""
        folder = self._folders.get(name)
        found = None if folder is None else self._in_folder(folder)
        if found is not None:
            return found
        flat = self._files.get(name + _SUFFIX)
        return None if flat is None else candidate(name, flat)

    def _in_folder(self, folder: Entry) -> Candidate | None:
        if folder.problem is not None:
            return candidate(folder.name, folder)
        inner: Listing = scan(folder.path, self._real, lambda name, is_folder: not is_folder and _is_markdown(name))
        files = {entry.name: entry for entry in inner.entries}
        found = files.get("SKILL.md") or files.get(folder.name + _SUFFIX) or next(iter(files.values()), None)
        if found is not None:
            return candidate(folder.name, found, folder=folder)
        return candidate(folder.name, folder, problem=inner.problem) if inner.problem else None


def _is_markdown(name: str) -> bool:
    return name.endswith(_SUFFIX) and name != _SUFFIX
