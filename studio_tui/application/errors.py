"""The closed error taxonomy of ADR-0078 D2.

    StudioApplicationError
    ├── ValidationFailure        the input is wrong; says field, fault and what is allowed; nothing was stored
    ├── NotFound                 the record is not there (any more)
    ├── Conflict                 somebody else changed it, or the name is taken; carries both sides
    ├── StateUnavailable         the store cannot answer; says whether a retry is safe
    ├── ReconciliationRequired   half of a two-part save is done; a record of it was kept
    └── PermissionDenied         this store, record or path must not be changed or read this way

No other exception crosses the application boundary. ``code`` is the discriminant; the text is for people and carries no
SQL, no traceback and no secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldFailure:
    """One wrong field: where it is, a stable code, and a sentence with what is allowed; in a file, the line (from 1)."""

    path: tuple[str | int, ...]
    code: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        return f"{place}{'.'.join(map(str, self.path))}: {self.message}" if self.path else f"{place}{self.message}"


class StudioApplicationError(Exception):
    """Anything that an operation may answer instead of a result."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1


class ValidationFailure(StudioApplicationError):
    """The input breaks a rule. Nothing was stored."""

    code = "validation"
    exit_code = 2

    def __init__(self, *field_errors: FieldFailure) -> None:
        self.field_errors = field_errors
        super().__init__("; ".join(map(str, field_errors)))

    @classmethod
    def of(cls, field: str, code: str, message: str) -> ValidationFailure:
        """A failure of one top-level field."""
        return cls(FieldFailure((field,), code, message))


class NotFound(StudioApplicationError):
    """No such record."""

    code = "not_found"
    exit_code = 3

    def __init__(self, resource: str, identifier: str) -> None:
        self.resource, self.identifier = resource, identifier
        super().__init__(f"no {resource} {identifier}")


class Conflict(StudioApplicationError):
    """The record is not what the caller saw, a name is taken, or an id fits several records.

    ``differences`` hold, by field, what the caller wanted and what is stored, where that is known.
    """

    code = "conflict"
    exit_code = 4

    def __init__(
        self,
        resource: str,
        *,
        expected: str | None,
        actual: str | None,
        message: str | None = None,
        differences: Mapping[str, tuple[object, object]] | None = None,
    ) -> None:
        self.resource, self.expected, self.actual = resource, expected, actual
        self.differences: Mapping[str, tuple[object, object]] = differences or {}
        super().__init__(message or f"{resource} changed meanwhile: expected {expected}, found {actual}")


class StateUnavailable(StudioApplicationError):
    """The store cannot answer now. ``retryable`` says whether trying again is safe and may help."""

    code = "state_unavailable"
    exit_code = 5

    def __init__(self, reason: str, *, retryable: bool) -> None:
        self.reason, self.retryable = reason, retryable
        super().__init__(reason)


class ReconciliationRequired(StudioApplicationError):
    """History was written and the file was not (or the other way round); the record of it has this id."""

    code = "reconciliation_required"
    exit_code = 6

    def __init__(self, reconciliation_id: str, reason: str) -> None:
        self.reconciliation_id = reconciliation_id
        super().__init__(reason)


class PermissionDenied(StudioApplicationError):
    """The operation is refused: a read-only store, a protected record, or a path outside its root."""

    code = "permission_denied"
    exit_code = 7

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)
