"""Nothing but the closed taxonomy crosses the application boundary (ADR-0078 D2).

Every service class wears :func:`guarded`. It is the one place of the application that catches all exceptions: what an adapter
raises unexpectedly is written to the log with an id, and the caller gets :class:`StateUnavailable` that names this id.
Cancellation passes through untouched. Ids and names that are no text (half characters) are refused here, before any port is
asked; what commands and queries hold is judged by the operations, which know the fields.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar
from uuid import uuid4

from studio_tui.application.errors import StateUnavailable, StudioApplicationError
from studio_tui.application.wellformed import require_wellformed

_LOG = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


def guarded(service: type[S]) -> type[S]:
    """Guard every public method that ``service`` itself defines."""
    for name, member in list(vars(service).items()):
        if not name.startswith("_") and inspect.isfunction(member):
            setattr(service, name, _guard(member))
    return service


def _guard(operation: Callable[..., Any]) -> Callable[..., Any]:
    return _guard_async(operation) if inspect.iscoroutinefunction(operation) else _guard_sync(operation)


def _guard_async(operation: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    names = tuple(inspect.signature(operation).parameters)

    @functools.wraps(operation)
    async def guard(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            _require_whole(names, args, kwargs)
            return await operation(*args, **kwargs)
        except StudioApplicationError:
            raise
        except Exception as error:
            raise _unexpected(operation, error) from error

    return guard


def _guard_sync(operation: Callable[P, R]) -> Callable[P, R]:
    names = tuple(inspect.signature(operation).parameters)

    @functools.wraps(operation)
    def guard(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            _require_whole(names, args, kwargs)
            return operation(*args, **kwargs)
        except StudioApplicationError:
            raise
        except Exception as error:
            raise _unexpected(operation, error) from error

    return guard


def _require_whole(names: tuple[str, ...], args: tuple[object, ...], kwargs: dict[str, object]) -> None:
    """Raise :class:`ValidationFailure` for an id, a name or a list of them that holds half a character."""
    for name, value in (*zip(names, args, strict=False), *kwargs.items()):
        texts = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
        require_wellformed(**{name: "".join(text for text in texts if isinstance(text, str))})


def _unexpected(operation: Callable[..., object], error: Exception) -> StateUnavailable:
    """Log ``error`` under a fresh id; the text for people names the id and nothing else of it."""
    trouble = uuid4().hex[:8]
    _LOG.error("trouble %s in %s", trouble, operation.__qualname__, exc_info=error)
    return StateUnavailable(f"an unexpected fault; the log tells more under {trouble}", retryable=False)
