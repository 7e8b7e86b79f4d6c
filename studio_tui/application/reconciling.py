"""What a record of a begun save means, judged by the history and the file as they are now."""

from __future__ import annotations

import hashlib
from typing import Final, Literal

from studio_tui.application.models.definitions import Reconciliation
from studio_tui.application.ports.definition_writes import PendingSave
from studio_tui.domain.definitions import FILE_KINDS, FileDefinition, VersionRecord

UNDER_WAY: Final = 10.0
"""Seconds for which a save without a known failure is taken to be going on, in this process or another."""


def half_done(
    pending: PendingSave, newest: VersionRecord | None, file: FileDefinition | None, *, now: float
) -> Reconciliation | Literal["settled", "under_way"]:
    """The half-finished save that a record stands for, or why it stands for none.

    It is settled when the file has the text, when the version never came into the history, and when a later version did.
    """
    if pending.reason is None and 0.0 <= now - pending.begun_at < UNDER_WAY:
        return "under_way"
    if newest is None or newest.content is None or _sha256(newest.content) != pending.sha256 or pending.kind not in FILE_KINDS:
        return "settled"
    if file is not None and (file.sha256 == pending.sha256 or file.content == newest.content):
        return "settled"
    return Reconciliation.model_validate(
        {
            "reconciliation_id": pending.reconciliation_id,
            "kind": pending.kind,
            "name": pending.name,
            "version": newest.version,
            "begun_at": pending.begun_at,
            "file": "missing" if file is None else "differs" if file.content is not None else "unreadable",
            "reason": pending.reason,
        }
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
