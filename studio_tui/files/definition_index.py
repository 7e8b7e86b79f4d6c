"""Which files are the definitions of a root, and which of them a name means.

Agents and playbooks (lionagi 0.36, facts 8.1): files of the root itself and of the folders in it, one level deep; a file in a
folder goes by the folder's name. Skills (8.4): a folder with a Markdown file, or a Markdown file. The list and the lookup are
one rule here, so what is listed is what opens.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from studio_tui.files.contained import Entry, Listing, name_problem, printable, probe, scan

EXTENSIONS: Final = (".md", ".playbook.yaml", ".yaml")
"""In the order of the lookup."""

MAX_FOLDERS: Final = 5_000
"""Folders of one root that are looked into."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One definition: its name, its file, and remarks. ``problem`` says why the file must not be opened."""

    name: str
    entry: Entry
    relative_path: str
    problem: str | None = None
    notes: tuple[str, ...] = ()


def split_name(file_name: str) -> tuple[str, str] | None:
    """Stem and extension of a definition file, or ``None`` when it is none."""
    for extension in (".playbook.yaml", ".yaml", ".md"):
        if file_name.endswith(extension) and len(file_name) > len(extension):
            return file_name.removesuffix(extension), extension
    return None


def candidate(
    name: str,
    entry: Entry,
    *,
    folder: Entry | None = None,
    problem: str | None = None,
    notes: tuple[str, ...] = (),
) -> Candidate:
    """A definition of ``entry``, which is in ``folder`` or in the root itself."""
    path = entry.name if folder is None else f"{folder.name}/{entry.name}"
    target = entry.target or (folder.target if folder is not None else None)
    if target is not None:
        notes = (*notes, f"a link out of the root, to {printable(target)}")
    return Candidate(printable(name), entry, printable(path), problem or entry.problem or name_problem(name), notes)


class RootIndex:
    """One look at a root of agents or playbooks. Blocks: run it in a thread."""

    def __init__(self, kind: str, root: Path, *, only: str | None = None) -> None:
        """Look at all, or only at what stands under one name in the root itself."""
        self._kind = kind
        self._real = os.path.realpath(root)
        if only is None:
            top = scan(root, self._real, lambda name, is_folder: is_folder or split_name(name) is not None)
        else:
            top = probe(root, self._real, (only, *(only + extension for extension in EXTENSIONS)))
        self.problem = top.problem
        self._files = {entry.name: entry for entry in top.entries if not entry.is_folder and split_name(entry.name)}
        folders = [entry for entry in top.entries if entry.is_folder]
        if len(folders) > MAX_FOLDERS:
            self.problem = f"more than {MAX_FOLDERS} folders; the rest is not shown"
        self._folders = {entry.name: (entry, self._inner(entry)) for entry in folders[:MAX_FOLDERS]}

    def candidates(self) -> Iterator[Candidate]:
        """Every definition by name."""
        names = {parts[0] for name in self._files if (parts := split_name(name))}
        for folder, (entry, inner) in self._folders.items():
            if inner.entries or inner.problem or entry.problem or split_name(folder):
                names.add(folder)
        for name in sorted(names):
            found = self.find(name)
            if found is not None:
                yield found

    def find(self, name: str) -> Candidate | None:
        """The file that a name means."""
        flat = self._pick(self._files, name)
        nested = self._nested(name)
        if flat is not None:
            return candidate(name, flat, notes=self._shadow(name, nested))
        return nested or self._elsewhere(name)

    def _nested(self, name: str) -> Candidate | None:
        """The definition of the folder of this name: ``<name>/<name>.<ext>``, else its first file."""
        if name not in self._folders:
            return None
        folder, inner = self._folders[name]
        files = {entry.name: entry for entry in inner.entries}
        found = self._pick(files, name) or self._first(files)
        if found is not None:
            return candidate(name, found, folder=folder)
        problem = folder.problem or inner.problem
        if problem is None and split_name(name):
            problem = "a folder, not a file"
        return None if problem is None else candidate(name, folder, problem=problem)

    def _elsewhere(self, name: str) -> Candidate | None:
        """``<name>.<ext>`` in any folder."""
        for folder, inner in self._folders.values():
            found = self._pick({entry.name: entry for entry in inner.entries}, name)
            if found is not None:
                return candidate(name, found, folder=folder)
        return None

    @staticmethod
    def _pick(files: dict[str, Entry], name: str) -> Entry | None:
        return next((files[name + extension] for extension in EXTENSIONS if name + extension in files), None)

    @staticmethod
    def _first(files: dict[str, Entry]) -> Entry | None:
        ordered = (entry for extension in EXTENSIONS for name, entry in files.items() if name.endswith(extension))
        return next(ordered, None)

    def _inner(self, folder: Entry) -> Listing:
        if folder.problem is not None:
            return Listing()
        return scan(folder.path, self._real, lambda name, is_folder: not is_folder and split_name(name) is not None)

    def _shadow(self, name: str, nested: Candidate | None) -> tuple[str, ...]:
        """The command line prefers ``<name>/<name>.md`` of an agent, the lookup here the flat file (facts 8.1)."""
        own = f"{name}/{name}.md"
        if self._kind == "agent" and nested is not None and nested.relative_path == printable(own):
            return (f"there is {printable(own)} too, and li agent reads that one",)
        return ()
