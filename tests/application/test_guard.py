"""Nothing but the closed taxonomy crosses the boundary, and every service keeps to that."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable

import pytest

from studio_tui.application.contract.operations import operations
from studio_tui.application.errors import NotFound, StateUnavailable, ValidationFailure
from studio_tui.application.guard import guarded
from studio_tui.application.models.runs import RunQuery
from studio_tui.application.runs import RunService
from tests.application.records import Runs


@guarded
class _Service:
    """Fails in every way."""

    async def look(self) -> None:
        raise ZeroDivisionError("secret://user:password@host")

    def status(self) -> None:
        raise KeyError("secret")

    async def miss(self) -> None:
        raise NotFound("run", "x")

    async def wait(self) -> None:
        await asyncio.Event().wait()

    async def _inner(self) -> None:
        raise ZeroDivisionError

    async def add(self, one: int, *, two: int = 2) -> int:
        """Adds."""
        return one + two


async def test_an_unexpected_fault_is_logged_under_an_id_that_the_caller_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(StateUnavailable) as caught:
        await _Service().look()
    assert "password" not in str(caught.value)
    assert not caught.value.retryable
    trouble = str(caught.value).rsplit(" ", 1)[-1]
    record = next(record for record in caplog.records if trouble in record.getMessage())
    assert record.exc_info
    assert "_Service.look" in record.getMessage()


def test_a_plain_method_is_guarded_as_well() -> None:
    with pytest.raises(StateUnavailable):
        _Service().status()


async def test_the_errors_of_the_taxonomy_pass_unchanged() -> None:
    with pytest.raises(NotFound):
        await _Service().miss()


async def test_cancellation_passes_untouched() -> None:
    waiting = asyncio.create_task(_Service().wait())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_private_methods_are_not_wrapped() -> None:
    with pytest.raises(ZeroDivisionError):
        await _Service()._inner()


async def test_a_guarded_method_keeps_its_signature_and_result() -> None:
    assert await _Service().add(1, two=3) == 4
    assert list(inspect.signature(_Service.add).parameters) == ["self", "one", "two"]
    assert _Service.add.__doc__ == "Adds."


def test_every_operation_is_guarded() -> None:
    assert len(operations()) > 90
    for operation in operations():
        assert hasattr(getattr(operation.owner, operation.method), "__wrapped__"), operation.name


@pytest.mark.parametrize(
    "ask",
    [
        lambda runs: runs.get_run("a\ud800"),
        lambda runs: runs.refresh_runs(["fine", "\udfff"]),
        lambda runs: runs.list_runs(RunQuery(playbook="a\ud800")),
        lambda runs: runs.list_runs(RunQuery(tags=("fine", "\udfff"))),
    ],
)
async def test_what_is_no_text_never_reaches_a_port(ask: Callable[[RunService], Awaitable[object]]) -> None:
    world = Runs()
    with pytest.raises(ValidationFailure) as caught:
        await ask(world.service)
    assert [failure.code for failure in caught.value.field_errors] == ["not_text"]
    assert not world.runs.asked


async def test_a_broken_adapter_reaches_a_screen_as_state_unavailable() -> None:
    world = Runs()
    world.runs.trouble = RuntimeError("driver: connection lost")
    with pytest.raises(StateUnavailable) as caught:
        await world.service.list_runs(RunQuery())
    assert "driver" not in str(caught.value)
