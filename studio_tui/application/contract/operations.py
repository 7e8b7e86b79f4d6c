"""The operations, found by looking at the services themselves, so that none can be forgotten."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Final

from studio_tui.application import models
from studio_tui.application.studio import Studio

_SURROUNDINGS: Final = ("changes", "clock")
_ROLE: Final = re.compile(r":[a-z]+:`~?([^`]+)`")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation. ``is_data`` is false for what is no value, such as a listener."""

    name: str
    type: Any
    required: bool

    @property
    def is_data(self) -> bool:
        """Whether it can be written down."""
        return not _is_callable(self.type)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: ``service.method`` of a :class:`Studio`."""

    service: str
    method: str
    owner: type
    parameters: tuple[Parameter, ...]
    result: Any
    is_async: bool
    summary: str

    @property
    def name(self) -> str:
        """Its name in the contract."""
        return f"{self.service}.{self.method}"


@cache
def operations() -> tuple[Operation, ...]:
    """Every operation by name."""
    known = contract_models()
    hints = typing.get_type_hints(Studio)
    found = (
        _operation(part.name, hints[part.name], name, member, known)
        for part in fields(Studio)
        if part.name not in _SURROUNDINGS
        for name, member in _methods(hints[part.name])
    )
    return tuple(sorted(found, key=lambda operation: operation.name))


def _methods(service: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, member in inspect.getmembers(service, inspect.isfunction):
        if not name.startswith("_"):
            yield name, member


def _operation(service: str, owner: type, method: str, member: Callable[..., Any], known: Mapping[str, object]) -> Operation:
    hints = typing.get_type_hints(member, localns=dict(known))
    parameters = tuple(
        Parameter(name, hints[name], required=parameter.default is parameter.empty)
        for name, parameter in inspect.signature(member).parameters.items()
        if name != "self"
    )
    return Operation(service, method, owner, parameters, hints["return"], inspect.iscoroutinefunction(member), _summary(member))


def _summary(member: Callable[..., Any]) -> str:
    """The first sentence of what an operation says of itself, without marks of documentation tools."""
    sentence = (inspect.getdoc(member) or "").partition("\n")[0].partition(". ")[0].rstrip(".") + "."
    return _ROLE.sub(r"\1", sentence).replace("``", "")


@cache
def contract_models() -> Mapping[str, object]:
    """The contract models by name: services import some of them for type checkers only."""
    found: dict[str, object] = {}
    for module in pkgutil.iter_modules(models.__path__):
        found |= vars(importlib.import_module(f"{models.__name__}.{module.name}"))
    return found


def _is_callable(hint: Any) -> bool:
    inner = (hint, *typing.get_args(hint))
    return any(typing.get_origin(part) is Callable for part in inner)
