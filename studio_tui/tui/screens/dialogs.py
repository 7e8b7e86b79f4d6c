"""Questions over a screen. None opens by itself while someone types, and none can be answered by a key typed in advance.

For ``deaf_for`` seconds a dialog hears nothing but escape (the app drops the keys). The safe answer is highlighted, and enter
does the highlighted one. Open them with ``await app.push_screen_wait(dialog)`` in a worker, or with
``app.push_screen(dialog, callback)``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from studio_tui.application.errors import ValidationFailure
from studio_tui.tui import failures
from studio_tui.tui.keys import ACTIONS, bind, shown_key
from studio_tui.tui.safe_text import fold, wrap
from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.choices import Answer, Choices
from studio_tui.tui.widgets.field import Field
from studio_tui.tui.widgets.form import Form, FormField
from studio_tui.tui.widgets.notice import key_spans
from studio_tui.tui.widgets.panes import LinesPane

Result = TypeVar("Result")
Words = Sequence[str | Sequence[Span]]
"""Lines of a dialog: a text (drawn soft), or spans."""
_WIDTH = 66
"""Cells of text in a dialog; longer lines are broken."""
_EDGES = 6
"""Cells of padding beside it."""


class Dialog(ModalScreen[Result | None]):
    """A box of lines with something to answer. Escape and a click beside it mean no, which is ``None``."""

    CSS_PATH = Path(__file__).parent.parent / "styles" / "dialogs.tcss"
    BINDINGS = [bind("back", "cancel", verb="close")]
    deaf_for = 0.6
    """Seconds after opening in which keys are dropped: they were meant for the screen below."""

    def __init__(self, title: str, lines: Words = ()) -> None:
        super().__init__()
        self._title, self._words = title, lines
        self._hears_from = time.monotonic() + self.deaf_for

    def compose(self) -> ComposeResult:
        """Title, words, and what the subclass asks."""
        with Vertical(classes="dialog"):
            text = LinesPane(classes="dialog-text", id="said", on="raised")
            text.show(self._said())
            yield text
            yield from self.question()

    def _said(self) -> list[list[Span]]:
        said = self.broken(self._title, "bold ink")
        for words in self._words:
            said += self.broken(words, "soft") if isinstance(words, str) else [list(words)]
        return said

    def on_resize(self) -> None:
        """Break the words anew."""
        self.query_one("#said", LinesPane).show(self._said())

    def broken(self, text: str, token: str) -> list[list[Span]]:
        """A text in lines that fit the box, broken between words."""
        width = min(_WIDTH, self.app.size.width - _EDGES)
        return [[(row, token)] for one in fold(text) for row in wrap(one, width)]

    def on_mount(self) -> None:
        """The deaf time begins when the dialog is there to be seen."""
        self._hears_from = time.monotonic() + self.deaf_for

    def question(self) -> ComposeResult:
        """The widgets that take the answer."""
        raise NotImplementedError

    @property
    def is_deaf(self) -> bool:
        """Whether keys are dropped still."""
        return time.monotonic() < self._hears_from

    def on_click(self, event: events.Click) -> None:
        """A click beside the box means no."""
        if event.widget is self:
            self.action_cancel()

    def action_cancel(self) -> None:
        """No."""
        self.dismiss(None)


class Choice(Dialog[str]):
    """One of several answers, each with a note on what it does; the first is the safe one. Gives its name."""

    def __init__(self, title: str, lines: Words, answers: Sequence[Answer]) -> None:
        super().__init__(title, lines)
        self._answers = answers

    def question(self) -> ComposeResult:
        """The answers, one below the other."""
        yield Choices(self._answers, layout="column")

    @on(Choices.Chosen)
    def _chosen(self, event: Choices.Chosen) -> None:
        self.dismiss(event.name)


class Confirm(Dialog[bool]):
    """Do it or not. ``verb`` names what will be done, in the words of the footer; "no" is first, and highlighted.

    The title names the object by name and id, the lines say the effect.
    """

    def __init__(self, title: str, lines: Words, *, verb: str, cancel: str = "cancel", harmful: bool = True) -> None:
        super().__init__(title, lines)
        self._verb, self._cancel, self._token = verb, cancel, "fail" if harmful else "ink"

    def question(self) -> ComposeResult:
        """No and yes, side by side."""
        yield Choices([Answer("no", self._cancel), Answer("yes", self._verb, token=self._token)])

    @on(Choices.Chosen)
    def _chosen(self, event: Choices.Chosen) -> None:
        self.dismiss(True if event.name == "yes" else None)


class TextPrompt(Dialog[str]):
    """One line of text. Enter gives it, unless ``check`` says what is wrong with it."""

    def __init__(
        self, title: str, lines: Words = (), *, value: str = "", hint: str = "", check: Callable[[str], str | None] | None = None
    ) -> None:
        super().__init__(title, lines)
        self._value, self._hint, self._check = value, hint, check

    def question(self) -> ComposeResult:
        """The field and a line for its fault."""
        yield Field(self._value, placeholder=self._hint)
        yield LinesPane(classes="dialog-foot", on="raised")

    def on_mount(self) -> None:
        """Say how to answer."""
        self._say(None)

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        fault = self._check(event.value) if self._check else None
        if fault:
            self._say(fault)
        else:
            self.dismiss(event.value)

    def _say(self, fault: str | None) -> None:
        keys = key_spans((("enter", "done"), ("esc", "cancel")))
        self.query_one(".dialog-foot", LinesPane).show([*([[(fault, "fail")]] if fault else []), keys])


class FormDialog(Dialog[Result], Generic[Result]):
    """A form. Subclasses give the fields and :meth:`submit`; a refused one marks its fields and stays open."""

    BINDINGS = [bind("submit", "submit", priority=True)]

    def __init__(self, title: str, fields: Sequence[FormField], lines: Words = ()) -> None:
        super().__init__(title, lines)
        self._form = Form(fields)
        self._busy = False

    @property
    def form(self) -> Form:
        """The fields."""
        return self._form

    async def submit(self, values: Mapping[str, str]) -> Result:
        """Do it. Raises the errors of the application; ``ValidationFailure`` goes to the fields that it names."""
        raise NotImplementedError

    def preview(self, values: Mapping[str, str]) -> Words:
        """Lines below the fields, made anew when a value changes."""
        return ()

    def question(self) -> ComposeResult:
        """Fields, preview, keys."""
        yield self._form
        yield LinesPane(id="preview", classes="dialog-foot", on="raised")
        yield LinesPane(id="submit", classes="dialog-foot", on="raised")

    def on_mount(self) -> None:
        """Show preview and keys."""
        self._say(())
        self._changed()

    @on(Form.Changed)
    def _changed(self) -> None:
        words = self.preview(self._form.values)
        self.query_one("#preview", LinesPane).show([[(one, "soft")] if isinstance(one, str) else one for one in words])

    def action_submit(self) -> None:
        """Save, once at a time."""
        if not self._busy:
            self._busy = True
            self.run_worker(self._submit(), group="submit", exit_on_error=False)

    async def _submit(self) -> None:
        try:
            result = await self.submit(self._form.values)
        except ValidationFailure as error:
            self._say(self._form.mark(error.field_errors))
        except Exception as error:
            self._say([failures.explain(error).sentence])
        else:
            self.dismiss(result)
        finally:
            self._busy = False

    def _say(self, faults: Sequence[str]) -> None:
        keys = key_spans(((shown_key(ACTIONS["submit"].keys), "save"), ("enter", "next field"), ("esc", "cancel")))
        lines = [line for fault in faults for line in self.broken(fault, "fail")]
        self.query_one("#submit", LinesPane).show([*lines, keys])
