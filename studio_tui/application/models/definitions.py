"""Definitions: agents, playbooks and skills are files with history; workflows are rows without (ADR-0077 D2, D3)."""

from __future__ import annotations

from typing import Literal

from studio_tui.application.models.common import ContractModel, Epoch

DefinitionKind = Literal["agent", "playbook", "skill", "workflow"]
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


class DefinitionDetail(DefinitionSummary):
    """One definition with its current text and, for files, its versions newest first.

    ``content`` is ``None`` when it cannot be read; ``language`` is a hint for syntax colours.
    ``history_available`` is ``False`` when the history could not be read, which is not the same as having none.
    """

    content: str | None = None
    language: Literal["markdown", "yaml", "json"] = "markdown"
    versions: tuple[DefinitionVersion, ...] = ()
    history_available: bool = True
