"""From a record to the contract model whose fields bear the same names."""

from __future__ import annotations

from typing import TypeVar

from studio_tui.application.models.common import ContractModel
from studio_tui.application.moments import Times
from studio_tui.application.wellformed import mended_json

M = TypeVar("M", bound=ContractModel)


def view(model: type[M], record: object, **derived: object) -> M:
    """``record`` as a ``model``; ``derived`` are the fields that the record does not have, or has otherwise.

    Impossible times are unknown, broken text is marked, and where the model has ``problems`` they name what could not be read.
    """
    times = Times()
    fields: dict[str, object] = {}
    for name in model.model_fields:
        if name not in derived and hasattr(record, name):
            fields[name] = _readable(name, getattr(record, name), times)
    if "problems" in model.model_fields:
        defects = (f"{column} cannot be read" for column in getattr(record, "defects", ()))
        fields["problems"] = (*defects, *times.problems)
    return model.model_validate({**fields, **derived})


def _readable(name: str, value: object, times: Times) -> object:
    if isinstance(value, float) and (name == "at" or name.endswith("_at")):
        return times.read(name, value)
    return mended_json(value)
