"""A call of any operation, with the arguments of its published example."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from pydantic import TypeAdapter

from studio_tui.application.contract.documents import contract
from studio_tui.application.contract.operations import Operation, operations

BY_NAME: Final = {operation.name: operation for operation in operations()}

_PLAIN: Final[Mapping[str, Mapping[str, object]]] = MappingProxyType(
    {
        "attention.decide": {"item_id": "run:r1"},
        "evidence.send_control": {"text": None},
        "runs.list_runs": {"backwards": False},
        "outbox.list_dispatches": {"status": ["expired"]},
        "outbox.purge_older": {"status": "expired", "dry_run": False},
        "workflows.create_workflow": {"spec": None},
        "workflows.update_workflow": {"spec": None},
        "definition_saves.save_definition": {"expected_version": None, "expected_sha256": None},
        "definitions.get_definition": {"kind": "agent"},
        "definitions.get_version": {"kind": "agent"},
        "definitions.list_versions": {"kind": "agent"},
        "host.hold_for": {"duration": "1h"},
        "schedules.cadence": {"trigger": {"kind": "interval", "seconds": 60}},
        "schedules.why": {"firing_id": None},
        "schedules.create_schedule": {
            "trigger": {"kind": "interval", "seconds": 60},
            "action": {"kind": "command", "command": "echo", "cwd": "/srv"},
            "expected": None,
        },
    }
)
"""Values without which an example, sound by its shape, breaks a rule or asks for something else than the plain case."""


@cache
def _examples() -> Mapping[str, Any]:
    return contract({})["examples.json"]["inputs"]


def arguments(operation: Operation) -> dict[str, Any]:
    """Arguments by name; pages begin at the beginning."""
    return {
        parameter.name: TypeAdapter(parameter.type).validate_python(_example(operation, parameter.name))
        for parameter in operation.parameters
        if parameter.is_data
    }


def _example(operation: Operation, parameter: str) -> Any:
    found, plain = _examples()[f"{operation.name}:{parameter}"], _PLAIN.get(operation.name, {})
    if not isinstance(found, dict):
        return plain.get(parameter, found)
    known = {name: value for name, value in plain.items() if name in found}
    return {name: value for name, value in found.items() if name != "cursor"} | known


async def call(service: Any, operation: Operation, **given: Any) -> Any:
    """The result of one operation."""
    result = getattr(service, operation.method)(**{**arguments(operation), **given})
    return await result if operation.is_async else result
