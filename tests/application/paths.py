"""Which ways to fail each operation has. Tests say with ``@covers(operation, path)`` which of them they go.

``empty``: there is nothing to answer with. ``missing``: the record is not there (any more). ``stale``: it is not what the caller
saw, or not in the state that the act needs. ``store_failure``: the store cannot answer. ``file_after_commit``: the history is
written and the file is not. ``containment``: a name or path leads out of its root. ``hash_mismatch``: a file is not the one
that was seen or recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

PATHS: Final = ("empty", "missing", "stale", "store_failure", "file_after_commit", "containment", "hash_mismatch")

ASKS_NOBODY: Final = ("host.status", "store.status", "runs.cursor_at", "schedules.cadence")
"""Operations that answer from what this process knows: no way of theirs leads to a store."""

_OWN_WAYS: Final = {
    "approvals.deny": "missing stale",
    "approvals.get_approval": "missing",
    "approvals.grant": "missing stale",
    "approvals.ledger": "empty",
    "approvals.list_waiting": "empty",
    "approvals.verify": "empty",
    "artifacts.list_artifacts": "empty",
    "artifacts.resolve_artifact": "missing containment hash_mismatch",
    "attention.decide": "stale",
    "attention.history": "empty",
    "attention.list_dispositions": "empty",
    "attention.reopen": "empty",
    "attention.standing": "empty",
    "definition_saves.list_reconciliations": "empty",
    "definition_saves.reconcile": "missing stale file_after_commit",
    "definition_saves.rollback_definition": "missing stale file_after_commit containment",
    "definition_saves.save_definition": "stale file_after_commit containment hash_mismatch",
    "definition_saves.snapshot_definition": "missing containment",
    "definitions.get_definition": "missing containment",
    "definitions.get_version": "missing",
    "definitions.list_definitions": "empty",
    "definitions.list_versions": "missing containment",
    "doctor.checks": "",
    "engines.get_engine_definition": "missing",
    "engines.get_engine_run": "missing",
    "engines.list_engine_definitions": "empty",
    "engines.list_engine_runs": "empty",
    "evidence.control_standing": "missing",
    "evidence.follow_signals": "empty missing",
    "evidence.list_evidence": "empty missing",
    "evidence.send_control": "missing stale",
    "host.decide": "",
    "host.hold": "",
    "host.hold_for": "",
    "host.release": "",
    "host.settle_missed": "",
    "host.status": "",
    "invocations.get_invocation": "missing",
    "invocations.list_invocations": "empty",
    "maintenance.check_integrity": "empty",
    "maintenance.checkpoint": "",
    "maintenance.get_event": "missing",
    "maintenance.list_events": "empty",
    "maintenance.vacuum": "stale",
    "outbox.acknowledge": "missing stale",
    "outbox.counts": "empty",
    "outbox.get_dispatch": "missing",
    "outbox.list_dispatches": "empty",
    "outbox.purge": "missing",
    "outbox.purge_older": "empty",
    "outbox.retry": "missing stale",
    "outbox.transport": "",
    "overview.overview": "empty",
    "projects.assign_runs": "empty",
    "projects.create_project": "stale",
    "projects.delete_project": "missing",
    "projects.get_project": "missing",
    "projects.list_projects": "empty",
    "projects.update_project": "missing stale",
    "runs.approximate_count": "empty",
    "runs.count_newer": "empty",
    "runs.cursor_at": "",
    "runs.get_run": "missing",
    "runs.list_messages": "empty missing",
    "runs.list_runs": "empty",
    "runs.refresh_runs": "empty",
    "runs.resolve_run_id": "missing stale",
    "schedule_sets.apply_set": "missing stale",
    "schedule_sets.export_sets": "missing stale",
    "schedule_sets.plan_set": "missing",
    "schedule_sets.validate_set": "missing",
    "schedules.cadence": "",
    "schedules.create_schedule": "stale",
    "schedules.delete_schedule": "missing stale",
    "schedules.deletion": "missing",
    "schedules.fire_now": "missing",
    "schedules.get_firing": "missing",
    "schedules.get_schedule": "missing",
    "schedules.list_firings": "empty",
    "schedules.list_schedules": "empty",
    "schedules.next_fires": "missing",
    "schedules.patch_schedule": "missing stale",
    "schedules.resolve_schedule": "missing stale",
    "schedules.set_enabled": "missing stale",
    "schedules.why": "missing",
    "shows.get_show": "missing containment",
    "shows.list_shows": "empty",
    "stats.activity": "empty",
    "stats.spend": "empty",
    "stats.spend_by": "empty",
    "store.create": "stale",
    "store.migrate": "",
    "store.plan": "",
    "store.status": "",
    "tags.add_tag": "missing",
    "tags.list_tags": "empty",
    "tags.remove_tag": "empty",
    "tags.set_label": "missing stale",
    "tags.tags_of": "empty",
    "teams.get_team": "missing",
    "teams.list_messages": "empty missing",
    "teams.list_teams": "empty",
    "workflows.create_workflow": "stale",
    "workflows.delete_workflow": "missing stale",
    "workflows.get_workflow": "missing",
    "workflows.list_workflows": "empty",
    "workflows.update_workflow": "missing stale",
}

APPLICABLE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {name: (*ways.split(), *(() if name in ASKS_NOBODY else ("store_failure",))) for name, ways in _OWN_WAYS.items()}
)
"""By operation: the paths that a test must go."""
