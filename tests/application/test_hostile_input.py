"""Hostile values in every text and number of every command and query: a refusal, or harmless; never a fault of ours."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import pytest
from pydantic import ValidationError

from studio_tui.application.contract.operations import operations
from studio_tui.application.errors import StudioApplicationError
from studio_tui.application.models.common import ContractModel
from studio_tui.application.models.schedules import CadenceQuery
from tests.application.calls import arguments
from tests.application.home import OpenHome

HOSTILE: Final[dict[str, object]] = {
    "half a character": "a\udcff",
    "a NUL": "a\0b",
    "blank": " ",
    "a way out": "../../../etc/passwd",
    "SQL": "x' OR 1=1; DROP TABLE sessions --",
    "long": "x" * 70_000,
    "a large number": 2**63,
    "a number below": -1,
    "no number": math.nan,
    "no end": math.inf,
}
"""By name; texts take the place of texts, numbers of numbers."""


def _spoilt(given: dict[str, Any], hostile: object) -> Iterator[dict[str, Any]]:
    """The arguments of a call, each time with another of their values spoilt; what a model refuses is left out."""
    for name, value in given.items():
        if _alike(value, hostile):
            yield {**given, name: hostile}
        elif isinstance(value, list | tuple) and value and _alike(value[0], hostile):
            yield {**given, name: type(value)([hostile])}
        elif isinstance(value, ContractModel):
            for changes in _spoilt(dict(value), hostile):
                with suppress(ValidationError):
                    yield {**given, name: type(value).model_validate({**dict(value), **changes})}


def _alike(value: object, hostile: object) -> bool:
    kinds = (str,) if isinstance(hostile, str) else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool)


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
async def test_no_value_is_a_fault_of_ours(home: OpenHome, hostile: object) -> None:
    faults = []
    for operation in operations():
        for given in _spoilt(arguments(operation), hostile):
            try:
                result = getattr(getattr(home.studio, operation.service), operation.method)(**given)
                if operation.is_async:
                    await result
            except StudioApplicationError as error:
                if "an unexpected fault" in str(error) or str(home.folder) in str(error):
                    faults.append(f"{operation.name} {given}: {error} {error.__cause__!r}"[:400])
    assert not faults, "\n".join(faults)
    assert await home.db.fetch_all("SELECT count(*) AS n FROM sessions") == [{"n": 0}]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Pacific/Kiritimati"])
@pytest.mark.parametrize("trigger", [{"kind": "interval", "seconds": 60}, {"kind": "cron", "expression": "*/5 * * * *"}])
async def test_a_preview_ends_with_the_calendar(home: OpenHome, trigger: dict[str, Any], zone: str) -> None:
    if trigger["kind"] == "cron":
        trigger = {**trigger, "timezone": zone}
    end = 253_402_300_799.0
    fires = []
    for after in (end, end - 3600, end - 86_400 + 1, -62_135_596_800.0):
        query = CadenceQuery.model_validate({"trigger": trigger, "after": after, "count": 100})
        fires += home.studio.schedules.cadence(query).fires
    assert fires
    assert all(fire.at <= end for fire in fires)
    for no_instant in (end + 1, -62_135_596_801.0, math.inf, math.nan, 2**63):
        with pytest.raises(ValidationError, match=r"finite|between the years 1 and 9999"):
            CadenceQuery.model_validate({"trigger": trigger, "after": no_instant})
