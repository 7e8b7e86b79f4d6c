"""Ports of which every call fails, and services that have no others."""

from __future__ import annotations

import inspect
from typing import Any, NoReturn

from studio_tui.application.ports import ActProvenance
from studio_tui.domain.schedules import Zone
from tests.fakes.base import HeldClock


class Troubled:
    """Whatever it is asked, it raises ``error``. Nobody hosts, and nothing was missed: only what asks a store shall fail."""

    holder = None
    reason = None
    last_pass_at = None
    missed = ()
    running = ()

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        def fail(*_args: object, **_named: object) -> NoReturn:
            raise self._error

        return fail


def in_trouble(service: type, error: Exception) -> Any:
    """The service with ports that fail; clock, zone and whoever acts are as ever."""
    plain: dict[str, object] = {
        "clock": HeldClock(),
        "zone": Zone("Europe/Berlin", "env:TZ"),
        "by": ActProvenance("cli", "ann", "/srv"),
        "home": "/srv/home",
    }
    return service(**{name: plain.get(name, Troubled(error)) for name in inspect.signature(service).parameters})
