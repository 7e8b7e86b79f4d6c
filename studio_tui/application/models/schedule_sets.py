"""Commands on declared sets of schedules, and what they answer (ADR-0078 D2)."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from studio_tui.application.models.common import ContractModel, Epoch

SetAction = Literal["create", "adopt", "update", "unchanged", "disable", "refused"]


class ValidMember(ContractModel):
    """One member that keeps to every rule: what it comes to on this host, and the digest of that.

    ``digest`` is SHA-256 of ``resolved`` as JSON with sorted keys; lionagi 0.36 gives the same.
    """

    key: str
    name: str
    enabled: bool
    trigger: str
    next_fire_at: Epoch | None
    digest: str
    resolved: dict[str, JsonValue]
    warnings: tuple[str, ...] = ()


class ValidSet(ContractModel):
    """A set that could be applied here."""

    owner_key: str
    members: tuple[ValidMember, ...]


class PlanSet(ContractModel):
    """Compare a file with what is stored. ``adopt`` lets it take schedules that no set owns, if they do the same already."""

    file: str
    adopt: bool = False


class ApplySet(ContractModel):
    """Make the store say what a file says. ``expected_plan`` is the ``plan_id`` of a plan that was looked at, or ``None``."""

    file: str
    adopt: bool = False
    expected_plan: str | None = None


class SetChange(ContractModel):
    """One field of a member that differs: as it is stored, and as it is declared."""

    field: str
    stored: JsonValue = None
    declared: JsonValue = None


class SetEntry(ContractModel):
    """What becomes of one schedule. ``reason`` says why, where that is not plain; of a refused one nothing is written.

    ``adopted_from`` is the name that an adopted schedule had before, if it had another.
    """

    action: SetAction
    name: str
    schedule_id: str | None = None
    enabled: bool
    next_fire_at: Epoch | None = None
    changes: tuple[SetChange, ...] = ()
    reason: str | None = None
    adopted_from: str | None = None
    warnings: tuple[str, ...] = ()


class SetPlan(ContractModel):
    """What applying a set does, or did. ``plan_id`` is another one when the file or the store is."""

    owner_key: str
    plan_id: str
    applied: bool
    entries: tuple[SetEntry, ...]


class ExportSets(ContractModel):
    """Write schedules as sets, into ``file`` if one is given.

    Those that a declaration or a command line made; with ``plain``, the others. Several sets go into several files beside each
    other. ``owner_key`` picks one set. A file that is there already is left alone, unless ``overwrite``.
    """

    file: str | None = None
    plain: bool = False
    owner_key: str | None = None
    overwrite: bool = False


class ExportedSchedule(ContractModel):
    """Whether a schedule could be spelt as a member; ``reason`` says why not, ``notes`` what to know of one that could."""

    name: str
    exported: bool
    reason: str | None = None
    notes: tuple[str, ...] = ()


class ExportedDocument(ContractModel):
    """One document; ``file`` is where it was written, if it was."""

    owner_key: str
    text: str
    file: str | None = None


class SetExport(ContractModel):
    """The documents, and what became of each schedule."""

    documents: tuple[ExportedDocument, ...]
    schedules: tuple[ExportedSchedule, ...]
