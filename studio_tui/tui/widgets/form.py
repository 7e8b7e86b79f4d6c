"""Fields of a form: label, input or a choice from a list, and the fault beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from studio_tui.application.errors import FieldFailure
from studio_tui.tui.statuses import Span
from studio_tui.tui.themes import palette
from studio_tui.tui.widgets.columns import StripMaker
from studio_tui.tui.widgets.field import Field
from studio_tui.tui.widgets.panes import LinesPane

LABEL: Final = 16
"""Cells of the labels' column."""


@dataclass(frozen=True, slots=True)
class FormField:
    """One field: where its fault is reported (``name``), its label, its value, and ``choices`` where only those are allowed.

    A stored value that is no longer among the choices is offered as it is, marked missing, and kept.
    """

    name: str
    label: str
    value: str = ""
    hint: str = ""
    choices: tuple[str, ...] = ()


class Cycle(Widget, can_focus=True):
    """One of a few values; left and right go through them."""

    DEFAULT_CSS = "Cycle { height: 1; background: $ground; }"
    BINDINGS = [Binding("left,h", "turn(-1)", show=False), Binding("right,l,space", "turn(1)", show=False)]

    class Turned(Message):
        """Another value."""

    def __init__(self, choices: Sequence[str], value: str) -> None:
        super().__init__()
        self.missing = value if value and value not in choices else None
        self.choices = (*choices, value) if self.missing else tuple(choices)
        self._at = self.choices.index(value) if value in self.choices else 0

    @property
    def value(self) -> str:
        """The chosen value."""
        return self.choices[self._at]

    def render_line(self, y: int) -> Strip:
        """The value between two arrows."""
        gone = "  (missing)" if self.value == self.missing else ""
        arrow = "accent" if self.has_focus else "faint"
        spans: list[Span] = [("‹ ", arrow), (self.value, "bold ink" if self.has_focus else "ink"), (gone, "warn"), (" ›", arrow)]
        return StripMaker(palette(self.app.theme), self.size.width).line(spans)

    def action_turn(self, by: int) -> None:
        """The value before or after, round the end."""
        self._at = (self._at + by) % len(self.choices)
        self.refresh()
        self.post_message(self.Turned())

    def on_focus(self) -> None:
        """Arrows show where keys go."""
        self.refresh()

    def on_blur(self) -> None:
        """Arrows show where keys go."""
        self.refresh()


class FormRow(Vertical):
    """Label and input in one line; a fault goes in the line below, which is there only while there is one."""

    DEFAULT_CSS = """
    FormRow { height: auto; }
    FormRow > Horizontal { height: 1; }
    FormRow .form-label { width: 16; height: 1; }
    FormRow .form-fault { height: 1; display: none; }
    FormRow.-faulty .form-fault { display: block; }
    """

    def __init__(self, field: FormField) -> None:
        super().__init__()
        self.field = field
        self._input: Field | Cycle = (
            Cycle(field.choices, field.value) if field.choices else Field(field.value, placeholder=field.hint)
        )

    def compose(self) -> ComposeResult:
        """Label, input, fault."""
        label = LinesPane(classes="form-label", on="raised")
        label.show([[(self.field.label, "soft")]])
        with Horizontal():
            yield label
            yield self._input
        yield LinesPane(classes="form-fault", on="raised")

    @property
    def value(self) -> str:
        """What is entered."""
        return self._input.value

    @property
    def input(self) -> Field | Cycle:
        """The widget that takes the focus."""
        return self._input

    def fault(self, text: str | None) -> None:
        """Say what is wrong with this field, or nothing."""
        self.set_class(bool(text), "-faulty")
        self.query_one(".form-fault", LinesPane).show([[(" " * LABEL, "fail"), (text or "", "fail")]])


class Form(Vertical):
    """Rows of fields. Enter goes to the next field; nothing is saved by it."""

    DEFAULT_CSS = "Form { height: auto; }"

    class Changed(Message):
        """A value changed."""

    def __init__(self, fields: Sequence[FormField]) -> None:
        super().__init__()
        self._rows = {field.name: FormRow(field) for field in fields}
        self._shown = frozenset(self._rows)

    def compose(self) -> ComposeResult:
        """The rows."""
        yield from self._rows.values()

    @property
    def values(self) -> Mapping[str, str]:
        """What is entered, by field name; hidden fields left out. A form that is closing keeps its values."""
        return {name: row.value for name, row in self._rows.items() if name in self._shown}

    def show_fields(self, names: frozenset[str]) -> None:
        """Show these fields and hide the others; what was typed in those is kept."""
        self._shown = names
        for name, row in self._rows.items():
            row.display = name in names

    def mark(self, faults: Sequence[FieldFailure]) -> list[str]:
        """Put each fault at its field and the focus on the first of them; the sentences of those that have no field here."""
        rest: list[str] = []
        found: dict[str, str] = {}
        for fault in faults:
            name = next((str(part) for part in reversed(fault.path) if str(part) in self._rows), None)
            if name is None:
                rest.append(fault.message)
            else:
                found.setdefault(name, fault.message)
        for name, row in self._rows.items():
            row.fault(found.get(name))
        first = next((row for name, row in self._rows.items() if name in found), None)
        if first is not None:
            first.input.focus()
        return rest

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter: the next field."""
        event.stop()
        self.screen.focus_next()

    def on_input_changed(self, event: Input.Changed) -> None:
        """A value changed."""
        event.stop()
        self.post_message(self.Changed())

    def on_cycle_turned(self, event: Cycle.Turned) -> None:
        """A value changed."""
        event.stop()
        self.post_message(self.Changed())
