"""The command palette: type some letters of what should be done, enter does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from studio_tui.tui.commands import Command, matching
from studio_tui.tui.keys import bind
from studio_tui.tui.screens.dialogs import Dialog
from studio_tui.tui.widgets.columns import Column
from studio_tui.tui.widgets.field import Field
from studio_tui.tui.widgets.notice import Notice
from studio_tui.tui.widgets.virtual_list import VirtualList

_LINES: Final = 14


class PaletteDialog(Dialog[Command]):
    """Gives the chosen command; who opened it runs it, once the palette is gone.

    ``typed`` finds what letters alone do not name.
    """

    AUTO_FOCUS = "Field"
    BINDINGS = [
        bind("list.up", "move(-1)", show=False, keys="up"),
        bind("list.down", "move(1)", show=False, keys="down"),
        bind("palette", "cancel", show=False),
    ]
    deaf_for = 0.0

    def __init__(self, given: tuple[Command, ...], typed: Callable[[str], tuple[Command, ...]]) -> None:
        super().__init__("do")
        self._given, self._typed_out = given, typed

    def question(self) -> ComposeResult:
        """The letters, and what they find."""
        yield Field(placeholder="letters of an action or a screen", max_length=200)
        found = VirtualList(
            [
                Column[Command]("action", lambda command: (command.words, "ink"), 30, fill=True, lead=True),
                Column[Command]("key", lambda command: (command.key, "bold accent"), 8),
            ],
            lambda command: command.name,
            on="raised",
            empty=Notice("nothing is called that", token="soft"),
            id="found",
        )
        found.can_focus = False
        found.styles.height = _LINES
        yield found

    def on_mount(self) -> None:
        """Everything, before a letter is typed."""
        self._list.set_rows(self._given)

    @property
    def _list(self) -> VirtualList[Command]:
        return self.query_one("#found", VirtualList)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        found = matching(self._given, event.value.removeprefix(":"))
        self._list.set_rows((*self._typed_out(event.value), *found), fresh=True)

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.dismiss(self._list.row)

    @on(VirtualList.Opened)
    def _opened(self) -> None:
        self.dismiss(self._list.row)

    def action_move(self, by: int) -> None:
        """The command before or after."""
        self._list.action_move(by)
