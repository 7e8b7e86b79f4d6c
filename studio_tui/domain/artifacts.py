"""Artifacts: what a run was to leave, what the store keeps of what it left, and the rules for their paths (lionagi 0.36)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

CONTRACT_ID: Final = re.compile(r"[A-Za-z0-9_-]+\Z")
_SHA256: Final = re.compile(r"[0-9a-f]{64}\Z")
_MEDIA_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*\Z")
_GLOB: Final = frozenset("*?[]{}~")
_OPTIONAL_TEXTS: Final = ("description", "source")


@dataclass(frozen=True, slots=True)
class ArtifactRecord:
    """One row of ``artifacts``. Times are epoch seconds.

    ``content`` is ``None`` when it was too long to be read with a list, and when it is no JSON object (``defects`` then says
    so); ``content_bytes`` is its size as stored.
    """

    artifact_id: str
    kind: str
    name: str
    invocation_id: str | None
    session_id: str | None
    created_at: float | None
    updated_at: float | None
    file_path: str | None
    content_bytes: int
    content: Mapping[str, object] | None
    defects: tuple[str, ...] = ()


def recorded_sha256(artifact: ArtifactRecord) -> str | None:
    """The hash of its file that whoever left it wrote into its content; the table has no column for it."""
    stored = (artifact.content or {}).get("sha256")
    return stored.lower() if isinstance(stored, str) and _SHA256.match(stored.lower()) else None


def recorded_media_type(artifact: ArtifactRecord) -> str | None:
    """The kind of its file, recorded in the same way."""
    stored = (artifact.content or {}).get("media_type")
    return stored if isinstance(stored, str) and _MEDIA_TYPE.match(stored) else None


def stored_path_fault(path: str) -> str | None:
    """Why ``path`` may not stand in an artifact's row, in words; ``None`` when it may.

    A row's path is relative to a root that is known only when it is read, so nothing in it may lead out of one.
    """
    if not path.strip():
        return "is empty"
    if "\0" in path:
        return "holds a NUL character"
    if path.startswith(("/", "\\")):
        return "is absolute; it must be relative"
    if path[1:2] == ":":
        return "names a drive; it must be relative"
    if ".." in path.replace("\\", "/").split("/"):
        return "leads out of its folder with .."
    return None


@dataclass(frozen=True, slots=True)
class ExpectedArtifact:
    """One artifact that a run's contract asks for."""

    artifact_id: str
    path: str
    required: bool = True
    description: str | None = None
    source: str | None = None


def contract_fault(contract: object) -> str | None:
    """Why a contract is none, in words; ``None`` when it is one, or when there is none."""
    if contract is None:
        return None
    expected = contract.get("expected") if isinstance(contract, Mapping) else None
    if not isinstance(expected, list | tuple):
        return "must hold a list of expected artifacts"
    seen: set[object] = set()
    for place, entry in enumerate(expected):
        if fault := _entry_fault(entry, seen):
            return f"expected artifact {place + 1} {fault}"
    return None


def expected_artifacts(contract: Mapping[str, object] | None) -> tuple[ExpectedArtifact, ...]:
    """What a contract without faults asks for. Raises :class:`ValueError` with the fault of one that has some."""
    if fault := contract_fault(contract):
        raise ValueError(fault)
    entries = (contract or {}).get("expected", ())
    assert isinstance(entries, list | tuple)
    return tuple(
        ExpectedArtifact(entry["id"], entry["path"], entry.get("required", True), entry.get("description"), entry.get("source"))
        for entry in entries
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a contract: ``passed``, ``warning`` (only optional ones are missing), ``failed``, or ``skipped``."""

    status: str
    missing_required: tuple[ExpectedArtifact, ...] = ()
    missing_optional: tuple[ExpectedArtifact, ...] = ()


def verdict(expected: Sequence[ExpectedArtifact] | None, produced: Collection[str]) -> Verdict:
    """Judge a contract by the ids of the artifacts that are there with something in them. Without a contract, ``skipped``.

    A run without a folder has produced nothing.
    """
    if expected is None:
        return Verdict("skipped")
    missing = [entry for entry in expected if entry.artifact_id not in produced]
    required = tuple(entry for entry in missing if entry.required)
    optional = tuple(entry for entry in missing if not entry.required)
    status = "failed" if required else "warning" if optional else "passed"
    return Verdict(status, required, optional)


def _entry_fault(entry: object, seen: set[object]) -> str | None:
    if not isinstance(entry, Mapping):
        return "is no object"
    identifier = entry.get("id")
    if not isinstance(identifier, str) or not CONTRACT_ID.match(identifier):
        return "needs an id of letters, digits, _ and -"
    if identifier in seen:
        return f"has the id {identifier}, which another one has"
    seen.add(identifier)
    if "required" in entry and not isinstance(entry["required"], bool):
        return "must be required or not"
    for key in _OPTIONAL_TEXTS:
        if key in entry and not isinstance(entry[key], str):
            return f"has a {key} that is no text"
    return _expected_path_fault(entry.get("path"))


def _expected_path_fault(path: object) -> str | None:
    """A contract's path names one file under the run's folder: no patterns, no way out."""
    if not isinstance(path, str) or not path:
        return "needs a path"
    if path.startswith("/") or "\0" in path:
        return "has an absolute path"
    if _GLOB & set(path):
        return "has a pattern in its path"
    parts = PurePosixPath(path).parts
    return "has a path that leads out of its folder" if not parts or ".." in parts else None
