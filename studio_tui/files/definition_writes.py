"""Writes definition files: whole or not at all, in the place where the lookup finds them (ADR-0077 D2)."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from studio_tui.application.errors import PermissionDenied, StateUnavailable, ValidationFailure
from studio_tui.application.ports.definition_writes import FileWriteResult
from studio_tui.files.contained import name_problem
from studio_tui.files.definition_index import Candidate, RootIndex
from studio_tui.files.frontmatter import find_front_matter, unify
from studio_tui.files.reading import read_file, why
from studio_tui.files.roots import Roots
from studio_tui.files.skill_index import SkillIndex

_NEW: Final = {"agent": "{}.md", "playbook": "{}.playbook.yaml", "skill": "{}/SKILL.md"}
_PROTECTED: Final = re.compile(r"^lion_system[ \t]*:[ \t]*[\"']?(?:true|yes|on)\b", re.IGNORECASE | re.MULTILINE)
_HEAD_BYTES: Final = 64 * 1024


class DefinitionWrites:
    """Implements :class:`~studio_tui.application.ports.definition_writes.DefinitionFileWritePort`. Works in threads."""

    def __init__(self, roots: Roots, *, home: Path) -> None:
        self._roots = roots
        self._home = home

    async def place(self, kind: str, name: str) -> str:
        """The path that versions of this definition carry: relative to the home, absolute for a file outside of it."""
        return await asyncio.to_thread(lambda: self._shown(self._target(kind, name)))

    async def require_writable(self, kind: str, name: str) -> None:
        """Raise where :meth:`write_definition` would refuse."""
        await asyncio.to_thread(self._writable, kind, name)

    async def write_definition(self, kind: str, name: str, content: str) -> FileWriteResult:
        """Put a text in the place of what is there."""
        return await asyncio.to_thread(self._write, kind, name, content)

    # --- in a thread --------------------------------------------------------------------------------------------------

    def _write(self, kind: str, name: str, content: str) -> FileWriteResult:
        target = self._writable(kind, name)
        data = content.encode("utf-8")
        try:
            _replace(target, data)
        except OSError as error:
            raise StateUnavailable(f"the file of {kind} {name} cannot be written: {why(error)}", retryable=True) from error
        return FileWriteResult(self._shown(target), hashlib.sha256(data).hexdigest(), len(data))

    def _writable(self, kind: str, name: str) -> Path:
        found = self._found(kind, name)
        if found is not None and (found.problem is not None or found.entry.is_folder):
            raise PermissionDenied(f"{kind} {name} is not written over: {found.problem or 'it is a folder'}")
        target = self._target(kind, name)
        if kind == "agent" and _is_protected(target):
            raise PermissionDenied(f"agent {name} belongs to lionagi (lion_system) and is not changed")
        return target

    def _target(self, kind: str, name: str) -> Path:
        """The file that is written. A link in the root is followed on purpose: definitions are often links into a checkout."""
        found = self._found(kind, name)
        if found is None:
            return self._roots.of_kind(kind) / _NEW[kind].format(name)
        return Path(os.path.realpath(found.entry.path))

    def _found(self, kind: str, name: str) -> Candidate | None:
        fault = name_problem(name)
        if fault is not None:
            raise ValidationFailure.of("name", "invalid", fault)
        return self._find(kind, self._roots.of_kind(kind), name)

    @staticmethod
    def _find(kind: str, root: Path, name: str) -> Candidate | None:
        if kind == "skill":
            return SkillIndex(root, only=name).find(name)
        return RootIndex(kind, root, only=name).find(name) or RootIndex(kind, root).find(name)

    def _shown(self, path: Path) -> str:
        for home in (self._home, Path(os.path.realpath(self._home))):
            with suppress(ValueError):
                return str(path.relative_to(home))
        return str(path)


def _is_protected(path: Path) -> bool:
    """Whether the file itself says so; a file that cannot be read says nothing, and writing it will tell why."""
    try:
        text = unify(read_file(path, _HEAD_BYTES).data.decode("utf-8", "replace"))
    except OSError:
        return False
    block = find_front_matter(text)
    return block is not None and _PROTECTED.search(block.yaml) is not None


def _replace(target: Path, data: bytes) -> None:
    """Write beside the target and move into its place, so that a crash or a full disk leaves the old file or the new one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, fresh = tempfile.mkstemp(prefix=".", suffix=".saving", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
            os.fchmod(descriptor, _mode(target))
            handle.flush()
            os.fsync(descriptor)
        os.replace(fresh, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(fresh)
        raise
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _mode(target: Path) -> int:
    """The mode of the file that is replaced; of a new one, what the system gives new files here."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0o077)
        os.umask(mask)
        return 0o666 & ~mask
