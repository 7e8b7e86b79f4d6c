"""``@covers(operation, path)``: a test's word that it takes an operation down one of its ways to fail, and the proof of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

import pytest

from studio_tui.application.contract.operations import Operation
from studio_tui.application.errors import (
    Conflict,
    NotFound,
    PermissionDenied,
    ReconciliationRequired,
    StateUnavailable,
    StudioApplicationError,
    ValidationFailure,
)
from tests.application.calls import BY_NAME
from tests.application.paths import APPLICABLE

covers = pytest.mark.covers

_ENDS: Final[dict[str, tuple[type[StudioApplicationError], ...]]] = {
    "missing": (NotFound,),
    "stale": (Conflict,),
    "store_failure": (StateUnavailable,),
    "file_after_commit": (ReconciliationRequired,),
    "containment": (PermissionDenied, ValidationFailure, NotFound),
    "hash_mismatch": (Conflict,),
}
"""How an operation must have ended at least once in a test that covers the path. ``empty`` must have ended well."""


@contextmanager
def proof(claims: list[tuple[str, str]], patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Watch the operations that a test claims to take somewhere, and fail it when it did not."""
    endings: dict[str, list[object]] = {name: [] for name, _ in claims}
    for name, path in claims:
        assert path in APPLICABLE[name], f"{path} is no way of {name}"
    for name in endings:
        operation = BY_NAME[name]
        patch.setattr(operation.owner, operation.method, _watched(operation, endings[name]))
    yield
    for name, path in claims:
        assert any(_fits(path, ending) for ending in endings[name]), f"{name} was not taken down {path}: {endings[name]}"


def _fits(path: str, ending: object) -> bool:
    return isinstance(ending, _ENDS[path]) if path in _ENDS else not isinstance(ending, Exception)


def _watched(operation: Operation, endings: list[object]) -> Callable[..., Any]:
    member = getattr(operation.owner, operation.method)

    @wraps(member)
    async def wait(*args: object, **named: object) -> object:
        try:
            endings.append(await member(*args, **named))
        except Exception as error:
            endings.append(error)
            raise
        return endings[-1]

    @wraps(member)
    def ask(*args: object, **named: object) -> object:
        try:
            endings.append(member(*args, **named))
        except Exception as error:
            endings.append(error)
            raise
        return endings[-1]

    return wait if operation.is_async else ask
