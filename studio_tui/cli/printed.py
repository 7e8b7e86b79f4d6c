"""What each verb prints with ``--json``, told by the operation whose result it is."""

from __future__ import annotations

import functools
import operator
import typing
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import click

PRINTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "init": ("store.status",),
        "runs list": ("runs.list_runs",),
        "runs show": ("runs.get_run",),
        "runs messages": ("runs.list_messages",),
        "schedules list": ("schedules.list_schedules",),
        "schedules show": ("schedules.get_schedule",),
        "schedules create agent": ("schedules.create_schedule",),
        "schedules create command": ("schedules.create_schedule",),
        "schedules create fanout": ("schedules.create_schedule",),
        "schedules create flow": ("schedules.create_schedule",),
        "schedules create playbook": ("schedules.create_schedule",),
        "schedules update": ("schedules.patch_schedule",),
        "schedules delete": ("schedules.delete_schedule",),
        "schedules enable": ("schedules.set_enabled",),
        "schedules disable": ("schedules.set_enabled",),
        "schedules fire": ("schedules.get_firing",),
        "schedules why": ("schedules.why",),
        "schedules next": ("schedules.next_fires",),
        "schedules history": ("schedules.list_firings",),
        "schedules validate": ("schedule_sets.validate_set",),
        "schedules apply": ("schedule_sets.apply_set", "schedule_sets.plan_set"),
        "schedules export": ("schedule_sets.export_sets",),
        "shows list": ("shows.list_shows",),
        "shows show": ("shows.get_show",),
        "definitions list": ("definitions.list_definitions",),
        "definitions show": ("definitions.get_definition", "DefinitionText"),
        "definitions versions": ("definitions.list_versions",),
        "definitions save": ("definition_saves.save_definition",),
        "definitions rollback": ("definition_saves.rollback_definition",),
        "definitions snapshot": ("definition_saves.snapshot_definition",),
        "definitions reconcile": ("definition_saves.list_reconciliations", "definition_saves.reconcile"),
        "workflows list": ("workflows.list_workflows",),
        "workflows show": ("workflows.get_workflow",),
        "workflows create": ("workflows.create_workflow",),
        "workflows update": ("workflows.update_workflow",),
        "artifacts list": ("artifacts.list_artifacts",),
        "artifacts show": ("artifacts.resolve_artifact",),
        "artifacts preview": ("artifacts.resolve_artifact",),
        "evidence list": ("evidence.list_evidence",),
        "evidence follow": ("evidence.follow_signals",),
        "evidence standing": ("evidence.control_standing",),
        "evidence send": ("evidence.send_control",),
        "invocations list": ("invocations.list_invocations",),
        "invocations show": ("invocations.get_invocation",),
        "engine-runs list": ("engines.list_engine_runs",),
        "engine-runs show": ("engines.get_engine_run",),
        "engine-runs definitions": ("engines.list_engine_definitions",),
        "engine-runs definition": ("engines.get_engine_definition",),
        "teams list": ("teams.list_teams",),
        "teams show": ("teams.get_team",),
        "teams messages": ("teams.list_messages",),
        "tags list": ("tags.list_tags",),
        "tags of": ("tags.add_tag",),
        "tags add": ("tags.add_tag",),
        "tags remove": ("tags.remove_tag",),
        "tags label": ("tags.set_label",),
        "projects list": ("projects.list_projects",),
        "projects show": ("projects.get_project",),
        "projects create": ("projects.create_project",),
        "projects update": ("projects.update_project",),
        "projects assign": ("projects.assign_runs",),
        "attention list": ("attention.list_dispositions",),
        "attention show": ("attention.standing",),
        "attention history": ("attention.history",),
        "attention decide": ("attention.decide",),
        "attention reopen": ("attention.reopen",),
        "approvals list": ("approvals.list_waiting",),
        "approvals show": ("approvals.get_approval",),
        "approvals grant": ("approvals.grant",),
        "approvals deny": ("approvals.deny",),
        "approvals ledger": ("approvals.ledger",),
        "approvals verify": ("approvals.verify",),
        "outbox list": ("outbox.list_dispatches",),
        "outbox show": ("outbox.get_dispatch",),
        "outbox counts": ("outbox.counts",),
        "outbox ack": ("outbox.acknowledge",),
        "outbox retry": ("outbox.retry",),
        "outbox purge": ("outbox.purge_older",),
        "stats activity": ("stats.activity",),
        "stats spend": ("stats.spend",),
        "stats spend-by": ("stats.spend_by",),
        "state plan": ("store.plan",),
        "state migrate": ("store.migrate",),
        "state checkpoint": ("maintenance.checkpoint",),
        "state vacuum": ("maintenance.vacuum",),
        "state check": ("maintenance.check_integrity",),
        "state events": ("maintenance.list_events",),
        "state event": ("maintenance.get_event",),
        "scheduler status": ("host.status",),
        "scheduler hold": ("host.hold_for",),
        "doctor": ("doctor.checks",),
    }
)
"""By verb. Where it depends on the arguments which operation is called, each of them; without a dot it is a model."""


def printed() -> dict[str, Any]:
    """The type of what each verb prints; lists are ``Items``, whether they come in pages or whole."""
    from studio_tui.application.contract.operations import operations
    from studio_tui.application.models.definitions import DefinitionText

    results = {operation.name: operation.result for operation in operations()} | {"DefinitionText": DefinitionText}
    return {verb: functools.reduce(operator.or_, (_document(results[name]) for name in names)) for verb, names in PRINTS.items()}


def verbs(command: click.Command, context: click.Context, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every verb under a command, by the words that call it."""
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if inner is not None:
            yield from verbs(inner, context, (*path, name))


def _document(result: Any) -> Any:
    from studio_tui.application.models.common import Items, Page

    metadata = getattr(result, "__pydantic_generic_metadata__", None)
    if metadata is not None and metadata["origin"] is Page:
        return Items[metadata["args"][0]]  # type: ignore[misc]
    if typing.get_origin(result) is tuple:
        return Items[typing.get_args(result)[0]]  # type: ignore[misc]
    return result
