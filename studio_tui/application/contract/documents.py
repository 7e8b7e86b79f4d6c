"""The contract as JSON documents: schemas, operations, examples."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from pydantic import TypeAdapter

from studio_tui.application.contract.examples import example
from studio_tui.application.contract.operations import Operation, operations
from studio_tui.application.models.failures import FAILURES

MAJOR: Final = 1
"""Within it, changes only add: see :mod:`studio_tui.application.contract.additive`."""

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_NOTHING: Final = type(None)

Document = dict[str, Any]


def contract(outputs: Mapping[str, Any]) -> dict[str, Document]:
    """Every document by its file's name. ``outputs`` are the types of what each verb of the command line prints."""
    inputs = schemas({f"{o.name}:{p.name}": p.type for o in operations() for p in o.parameters if p.is_data}, mode="validation")
    results = schemas({o.name: o.result for o in operations() if o.result is not _NOTHING}, mode="serialization")
    errors = schemas({str(_code(failure)): failure for failure in FAILURES}, mode="serialization")
    printed = schemas(outputs, mode="serialization")
    documents = {
        "operations.json": {"major": MAJOR, "operations": [_described(operation) for operation in operations()]},
        "inputs.json": inputs,
        "results.json": results,
        "errors.json": errors,
        "cli.json": printed,
        "examples.json": {
            "inputs": _examples(inputs),
            "results": _examples(results),
            "errors": _examples(errors),
            "cli": _examples(printed),
        },
    }
    written: dict[str, Document] = json.loads(json.dumps(documents))  # as a reader of the files finds them
    return written


def schemas(types: Mapping[str, Any], *, mode: Literal["validation", "serialization"]) -> Document:
    """One document with the schema of each type by its name, and what they share."""
    wanted: Iterable[tuple[str, Literal["validation", "serialization"], TypeAdapter[Any]]] = [
        (name, mode, TypeAdapter(hint)) for name, hint in types.items()
    ]
    found, shared = TypeAdapter.json_schemas(wanted, ref_template="#/$defs/{model}")
    by_name = {name: found[name, mode] for name in sorted(types)}
    return {"$schema": DIALECT, "schemas": by_name, "$defs": dict(sorted(shared.get("$defs", {}).items()))}


def _described(operation: Operation) -> Document:
    data = [parameter for parameter in operation.parameters if parameter.is_data]
    return {
        "name": operation.name,
        "summary": operation.summary,
        "parameters": [{"name": parameter.name, "required": parameter.required} for parameter in data],
        "returns_something": operation.result is not _NOTHING,
        "waits": operation.is_async,
    }


def _examples(document: Document) -> Document:
    return {name: example(schema, document["$defs"], name.rpartition(":")[2]) for name, schema in document["schemas"].items()}


def _code(failure: type) -> object:
    return failure.model_fields["code"].annotation.__args__[0]  # type: ignore[attr-defined]
