"""Half characters, as they come in from bytes that are no UTF-8, in every text of every command and query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from studio_tui.application.contract.operations import operations
from studio_tui.application.errors import StudioApplicationError
from studio_tui.application.models.common import ContractModel
from tests.application.calls import arguments
from tests.application.home import OpenHome

BROKEN = "a\udcff"


def _spoilt(given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The arguments of a call, each time with another of their texts broken."""
    for name, value in given.items():
        if isinstance(value, str):
            yield {**given, name: BROKEN}
        elif isinstance(value, list | tuple) and value and isinstance(value[0], str):
            yield {**given, name: type(value)([BROKEN])}
        elif isinstance(value, ContractModel):
            for changes in _spoilt(dict(value)):
                with suppress(ValidationError):  # a word of a closed list
                    yield {**given, name: type(value).model_validate({**dict(value), **changes})}


async def test_no_broken_text_is_a_fault_of_ours_or_gets_into_the_store(home: OpenHome) -> None:
    faults = []
    for operation in operations():
        for given in _spoilt(arguments(operation)):
            try:
                result = getattr(getattr(home.studio, operation.service), operation.method)(**given)
                if operation.is_async:
                    await result
            except StudioApplicationError as error:
                if "an unexpected fault" in str(error):
                    faults.append(f"{operation.name} {given}: {error.__cause__}")
    assert not faults, "\n".join(faults)
