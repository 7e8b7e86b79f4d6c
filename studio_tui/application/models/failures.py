"""The closed errors as documents: what a program gets to read in place of a result."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict

from studio_tui.application.models.common import ContractModel, ReconciliationId


class _Told(ContractModel):
    """Part of an error's document: what an error does not have is left out."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)


class FieldFault(_Told):
    """One wrong field: where it is, a stable code, and a sentence with what is allowed; in a file, the line (from 1)."""

    path: tuple[str | int, ...]
    code: str
    message: str
    line: int | None = None


class FieldDifference(_Told):
    """One field of which the caller wanted something else than what is stored."""

    yours: object = None
    stored: object = None


class Failure(_Told):
    """What every error has. ``code`` tells errors apart; ``message`` is for people and may change."""

    code: str
    message: str


class ValidationDocument(Failure):
    """The input is wrong; nothing was stored. A command line that cannot be read has no ``field_errors``."""

    code: Literal["validation"]
    field_errors: tuple[FieldFault, ...] = ()


class NotFoundDocument(Failure):
    """There is no such record (any more)."""

    code: Literal["not_found"]
    resource: str
    identifier: str


class ConflictDocument(Failure):
    """The record is not what the caller saw, a name is taken, or an id fits several records."""

    code: Literal["conflict"]
    resource: str
    expected: str | None
    actual: str | None
    differences: dict[str, FieldDifference] = {}


class StateUnavailableDocument(Failure):
    """The store cannot answer; ``retryable`` says whether trying again is safe and may help."""

    code: Literal["state_unavailable"]
    retryable: bool


class ReconciliationRequiredDocument(Failure):
    """Half of a save is done, and the record of it has this id."""

    code: Literal["reconciliation_required"]
    reconciliation_id: ReconciliationId


class PermissionDeniedDocument(Failure):
    """The operation is refused."""

    code: Literal["permission_denied"]


class UnexpectedDocument(Failure):
    """A fault of the program; its log tells more."""

    code: Literal["error"]


FAILURES: tuple[type[Failure], ...] = (
    ValidationDocument,
    NotFoundDocument,
    ConflictDocument,
    StateUnavailableDocument,
    ReconciliationRequiredDocument,
    PermissionDeniedDocument,
    UnexpectedDocument,
)
