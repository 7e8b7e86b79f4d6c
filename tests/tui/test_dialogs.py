"""Dialogs: the safe answer is highlighted, nothing typed in advance counts, and what was typed is kept."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.application.errors import FieldFailure, ValidationFailure
from studio_tui.tui.app import StudioApp
from studio_tui.tui.screens.dialogs import Choice, Confirm, Dialog, FormDialog, TextPrompt
from studio_tui.tui.widgets.choices import Answer
from studio_tui.tui.widgets.form import FormField
from studio_tui.tui.widgets.virtual_list import VirtualList
from tests.fakes import console as sample
from tests.fakes.console import SampleScreen, sample_places
from tests.tui.conftest import Console, screen_text, wait_until

PLACES = sample_places()


@pytest.fixture(autouse=True)
def _rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "ROWS", [(str(number), "OK", f"row {number}") for number in range(8)])


async def _answer(app: StudioApp, dialog: Dialog[Any]) -> list[Any]:
    given: list[Any] = []
    await app.push_screen(dialog, given.append)
    return given


async def test_keys_typed_in_advance_do_not_answer(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dialog, "deaf_for", 3600.0)
    async with console(places=PLACES) as (app, pilot):
        given = await _answer(app, Confirm("delete row 3?", ["it is gone then"], verb="delete"))
        await pilot.press("tab", "enter", "y", "enter")
        assert given == []
        assert isinstance(app.screen, Confirm)
        app.screen._hears_from = 0.0
        await pilot.press("enter")
        assert given == [None]
        given = await _answer(app, Confirm("delete row 3?", [], verb="delete"))
        await pilot.press("tab", "enter", "escape")
        assert given == [None]


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["enter"], None),
        (["escape"], None),
        (["tab", "enter"], True),
        (["right", "enter"], True),
        (["tab", "tab", "enter"], None),
    ],
)
async def test_confirm_does_what_is_highlighted(console: Console, keys: list[str], answer: bool | None) -> None:
    async with console(places=PLACES) as (app, pilot):
        given = await _answer(app, Confirm("stop it?", ["row 3"], verb="stop"))
        await pilot.press(*keys)
        assert given == [answer]
        assert app.screen.focused is app.screen.query_one(VirtualList)


async def test_a_click_beside_a_dialog_means_no(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        given = await _answer(app, Confirm("stop it?", [], verb="stop"))
        await pilot.click(offset=(1, 1))
        assert given == [None]


async def test_choice_names_the_answer(console: Console) -> None:
    answers = [Answer("look", "only look", "nothing fires"), Answer("host", "host here", "schedules fire from this console")]
    async with console((80, 24), places=PLACES) as (app, pilot):
        given = await _answer(app, Choice("who fires?", ["this home has a scheduler"], answers))
        assert "schedules fire from this console" in "\n".join(screen_text(app))
        await pilot.press("down", "enter")
        assert given == ["host"]


async def test_one_escape_closes_one_layer(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        await pilot.press("n")
        await pilot.press("question_mark")
        assert isinstance(app.screen, Confirm)
        await pilot.press("escape")
        assert isinstance(app.screen, SampleScreen)


async def test_prompt_checks_before_it_answers(console: Console) -> None:
    async with console(places=PLACES) as (app, pilot):
        given = await _answer(app, TextPrompt("name?", check=lambda text: None if text == "ok" else "only ok will do"))
        await pilot.press(*"no", "enter")
        assert given == []
        assert "only ok will do" in "\n".join(screen_text(app))
        await pilot.press("backspace", "backspace", *"ok", "enter")
        assert given == ["ok"]


class SampleForm(FormDialog[str]):
    """Refuses a name that is taken."""

    async def submit(self, values: Any) -> str:
        if values["name"] == "taken":
            raise ValidationFailure(
                FieldFailure(("name",), "taken", "this name is taken"), FieldFailure(("other",), "odd", "and it is monday")
            )
        if values["name"] == "broken":
            raise RuntimeError("secret")
        return f"{values['name']}/{values['kind']}"

    def preview(self, values: Any) -> list[str]:
        return [f"will be called {values['name']}"]


def _form() -> SampleForm:
    return SampleForm("new", [FormField("name", "name"), FormField("kind", "kind", "gone", choices=("agent", "flow"))])


async def test_a_form_marks_its_faults_and_keeps_what_was_typed(console: Console) -> None:
    async with console((80, 24), places=PLACES) as (app, pilot):
        given = await _answer(app, _form())
        await pilot.press(*"taken", "enter", "enter")
        assert given == [], "enter never submits"
        assert "gone  (missing)" in "\n".join(screen_text(app))
        await pilot.press("ctrl+s")
        await wait_until(lambda: "this name is taken" in "\n".join(screen_text(app)))
        assert "and it is monday" in "\n".join(screen_text(app))
        assert "will be called taken" in "\n".join(screen_text(app))
        await pilot.press(*["backspace"] * 5, *"free", "tab", "right", "ctrl+s")
        await wait_until(lambda: bool(given))
        assert given == ["free/agent"]


async def test_a_fault_in_a_form_keeps_it_open(console: Console) -> None:
    async with console((80, 24), places=PLACES) as (app, pilot):
        given = await _answer(app, _form())
        await pilot.press(*"broken", "ctrl+s")
        await wait_until(lambda: "unexpected fault" in "\n".join(screen_text(app)))
        assert given == []
        assert "secret" not in "\n".join(screen_text(app))


@pytest.mark.parametrize("size", [(40, 10), (20, 5), (80, 24), (200, 60)])
async def test_dialogs_and_screens_fit_any_window(console: Console, size: tuple[int, int]) -> None:
    async with console(size, places=PLACES) as (app, pilot):
        await _answer(app, Confirm("a question that is too long for a narrow window, and goes on", ["line"] * 3, verb="do it"))
        await pilot.resize_terminal(1, 1)
        await pilot.resize_terminal(80, 24)
        text = "\n".join(screen_text(app))
        assert "do it" in text
        assert "cancel" in text
        await pilot.press("escape")
        assert "row 0" in "\n".join(screen_text(app))
