"""Definitions: agents, playbooks and skills are files with history; workflows are rows without (ADR-0077 D2, D3)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from studio_tui.application.models.common import ContractModel, Epoch, ReconciliationId
from studio_tui.domain.definitions import LAST_VERSION

DefinitionKind = Literal["agent", "playbook", "skill", "workflow"]
FileKind = Literal["agent", "playbook", "skill"]
ReconcileChoice = Literal["write_file", "record_file", "leave"]
Drift = Literal["same", "edited", "no_snapshot", "file_missing", "unreadable", "no_history", "unknown"]


class DefinitionSummary(ContractModel):
    """One definition in the library.

    ``persistence`` names the kind of storage in words. ``drift`` compares the file with its newest version: ``unknown`` when
    history cannot be read, ``no_history`` for workflows, which keep none. ``notes`` are remarks that keep nobody from using it.
    """

    kind: DefinitionKind
    name: str
    persistence: str
    path: str | None = None
    description: str | None = None
    version: int | None = None
    drift: Drift = "unknown"
    modified_at: Epoch | None = None
    size_bytes: int | None = None
    problem: str | None = None
    notes: tuple[str, ...] = ()


class DefinitionVersion(ContractModel):
    """One stored version of a file definition."""

    version: int
    created_at: Epoch | None
    message: str | None
    content_length: int


class DefinitionText(ContractModel):
    """The text of one stored version, as the command line prints it."""

    kind: FileKind
    name: str
    version: int
    content: str


class DefinitionDetail(DefinitionSummary):
    """One definition with its current text and, for files, its versions newest first.

    ``content`` is ``None`` when it cannot be read; ``language`` is a hint for syntax colours.
    ``history_available`` is ``False`` when the history could not be read, which is not the same as having none.
    """

    content: str | None = None
    language: Literal["markdown", "yaml", "json"] = "markdown"
    versions: tuple[DefinitionVersion, ...] = ()
    history_available: bool = True


class SaveDefinition(ContractModel):
    """Save a file definition: a new version first, then the file.

    ``expected_version`` is the newest version that the caller saw (0: none); without it the last writer wins.
    ``expected_sha256`` is the hash of the file that the caller saw: another one there by now is a conflict.
    """

    kind: FileKind
    name: str = Field(min_length=1)
    content: str
    message: str | None = None
    expected_version: int | None = Field(default=None, ge=0)
    expected_sha256: str | None = None


class SaveResult(ContractModel):
    """What was saved. A save whose file could not be written is an error, never this."""

    kind: FileKind
    name: str
    version: int = Field(ge=1)
    saved_at: Epoch
    reconciliation_id: ReconciliationId | None = None


class RollbackDefinition(ContractModel):
    """Save the text of an older version as a new one."""

    kind: FileKind
    name: str = Field(min_length=1)
    version: int = Field(ge=1, le=LAST_VERSION)
    expected_version: int | None = Field(default=None, ge=0)


class SnapshotDefinition(ContractModel):
    """Keep the file as it is now as a version, if it differs from the newest one."""

    kind: FileKind
    name: str = Field(min_length=1)


class SnapshotResult(ContractModel):
    """Whether a version was added, and which is the newest now."""

    kind: FileKind
    name: str
    added: bool
    version: int = Field(ge=1)


class Reconciliation(ContractModel):
    """A save of which the version is in the history and the file is not on disk.

    ``file`` says how the file stands: ``missing``, ``differs`` or ``unreadable``; ``reason`` why it was not written, where that
    is known (a save that was cut short by a crash left no reason).
    """

    reconciliation_id: ReconciliationId
    kind: FileKind
    name: str
    version: int
    begun_at: Epoch
    file: Literal["missing", "differs", "unreadable"]
    reason: str | None = None


class ReconcileDefinition(ContractModel):
    """Settle a half-finished save: write the version to the file, record the file as a newer version, or leave both."""

    reconciliation_id: ReconciliationId
    choice: ReconcileChoice


class ReconcileResult(ContractModel):
    """How the definition stands after that."""

    kind: FileKind
    name: str
    choice: ReconcileChoice
    version: int = Field(ge=1)
