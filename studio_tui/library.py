"""The operations for programs and Python shells: ``async with open_studio(home) as studio: …``.

Every contract model and every error can be imported from here by its name:
``from studio_tui.library import NotFound, RunQuery, open_studio``.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from studio_tui.application.studio import Studio

_LOG = logging.getLogger(__name__)


@asynccontextmanager
async def open_studio(home: str | Path | None = None, *, db: str | None = None, read_only: bool = False) -> AsyncIterator[Studio]:
    """The operations on a home (``LIONAGI_HOME`` when it is left out), as for one command: nothing is hosted or watched.

    ``db`` is the address of another store. What has to be said at the end, such as a firing that runs on, goes to the log.
    Raises the closed errors of :mod:`studio_tui.application.errors` for settings that cannot be used.
    """
    from studio_tui.bootstrap import one_shot
    from studio_tui.settings import load_settings

    async with one_shot(load_settings(_flags(home, db, read_only)), _LOG.info) as studio:
        yield studio


def _flags(home: str | Path | None, db: str | None, read_only: bool) -> dict[str, object]:
    """As the command line's flags: what was not given is left out."""
    given = {"home": None if home is None else Path(home).expanduser(), "db": db, "read_only": read_only or None}
    return {name: value for name, value in given.items() if value is not None}


def __getattr__(name: str) -> Any:
    """A contract model or an error by its name, imported when it is first asked for."""
    if not name.startswith("_"):
        from studio_tui.application import errors
        from studio_tui.application.contract.operations import contract_models

        found = contract_models().get(name, getattr(errors, name, None))
        if found is not None:
            return found
    raise AttributeError(f"{__name__} has no {name}")
