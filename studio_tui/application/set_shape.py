"""From the values of a file to the document of a set: every fault of its shape, in words, with line and path."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, ValidationError

from studio_tui.application.errors import FieldFailure, ValidationFailure
from studio_tui.application.models.set_document import SetDocument
from studio_tui.application.ports.schedule_sets import SetFile

Path = tuple[str | int, ...]

MOST_FAULTS: Final = 100
"""More faults of one file are counted, not listed."""

_NUMBERS: Final = ("int_type", "greater_than_equal", "int_from_float")
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "missing": ("missing", "is required"),
    "string_type": ("not_text", "must be text; put it in quotes"),
    "bool_type": ("not_a_switch", "must be true or false, without quotes"),
    **dict.fromkeys(_NUMBERS, ("not_a_count", "must be a whole number of at least 1, without quotes")),
    **dict.fromkeys(("float_type", "greater_than", "finite_number"), ("not_an_amount", "must be a number above 0")),
    **dict.fromkeys(("model_type", "dict_type"), ("not_a_mapping", "must be a mapping of keys to values")),
    **dict.fromkeys(("list_type", "tuple_type"), ("not_a_list", "must be a list")),
}


def read_document(file: SetFile) -> SetDocument:
    """The document in a file. Raises :class:`ValidationFailure` with everything that is wrong with its text or its shape."""
    if file.faults:
        raise failure([FieldFailure(fault.path, fault.code, fault.message, fault.line) for fault in file.faults])
    try:
        return SetDocument.model_validate(file.data)
    except ValidationError as error:
        raise failure([_fault(dict(found), file.lines) for found in error.errors(include_url=False)]) from None


def failure(faults: list[FieldFailure]) -> ValidationFailure:
    """The faults of a file by their lines, as many as somebody will read."""
    ordered = sorted(faults, key=lambda fault: fault.line or 0)
    rest = len(ordered) - MOST_FAULTS
    more = (FieldFailure((), "more", f"and {rest} more faults"),) if rest > 0 else ()
    return ValidationFailure(*ordered[:MOST_FAULTS], *more)


def line_of(path: Path, lines: Mapping[Path, int]) -> int | None:
    """The line of a path, or of the nearest thing around it that is written."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


def _fault(found: dict[str, Any], lines: Mapping[Path, int]) -> FieldFailure:
    kind, path = str(found["type"]), _written(found["loc"])
    if kind == "extra_forbidden":
        code, message = "unknown", _unknown(str(path[-1]), _names_at(found["loc"][:-1]))
    elif kind.startswith("union_tag"):
        path = (*path, "kind")
        allowed = "agent, flow, playbook, command"
        code, message = ("missing" if kind.endswith("not_found") else "unknown"), f"must be one of {allowed}"
    elif kind == "literal_error":
        code, message = "unknown", f"{found['input']!r} is not allowed; allowed: {found['ctx']['expected']}"
    elif kind == "value_error":
        code, message = "invalid", str(found["ctx"]["error"])
    else:
        code, message = _WORDS.get(kind, ("invalid", str(found["msg"])))
    return FieldFailure(path, code, message, line_of(path, lines))


def _written(loc: Path) -> Path:
    """The path as the document has it: the kind of a target is told in between."""
    return (*loc[:3], *loc[4:]) if len(loc) > 3 and loc[0] == "schedules" and loc[2] == "target" else loc


def _unknown(name: str, allowed: list[str]) -> str:
    nearest = difflib.get_close_matches(name, allowed, n=1)
    hint = f"did you mean {nearest[0]}? " if nearest else ""
    return f"is no field here; {hint}allowed: {', '.join(allowed)}"


def _names_at(loc: Path) -> list[str]:
    """The fields of the part of the document at ``loc``."""
    part: Any = SetDocument
    for step in loc:
        part = _inside(part, step)
    return [info.alias or name for name, info in part.model_fields.items()] if _is_model(part) else []


def _inside(part: Any, step: str | int) -> Any:
    if _is_model(part):
        fields = {info.alias or name: info.annotation for name, info in part.model_fields.items()}
        return _model_of(fields.get(str(step)))
    for option in get_args(part):
        kind = option.model_fields.get("kind") if _is_model(option) else None
        if kind is not None and step in get_args(kind.annotation):
            return option
    return _model_of(get_args(part)[-1]) if get_origin(part) is dict else part


def _model_of(annotation: Any) -> Any:
    """An annotation without ``| None``."""
    options = [option for option in get_args(annotation) if option is not type(None)]
    optional = len(options) == 1 and type(None) in get_args(annotation)
    return options[0] if optional else annotation


def _is_model(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, BaseModel)
