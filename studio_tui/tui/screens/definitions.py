"""The library: agents, playbooks, skills and workflows in one list that says how each is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from textual import on

from studio_tui.application.models.definitions import DefinitionSummary
from studio_tui.tui import format as fmt
from studio_tui.tui.screens.browse import BrowseScreen
from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.columns import Column
from studio_tui.tui.widgets.facts import fact, heading, wrapped
from studio_tui.tui.widgets.notice import Notice
from studio_tui.tui.widgets.virtual_list import VirtualList

KEPT: Final = {"workflow": "store row"}
"""The kind of persistence in two words; the preview has the sentence."""
DRIFT: Final[dict[str, tuple[Span, str]]] = {
    "same": (("same", "ok"), "the file is its newest version"),
    "edited": (("EDITED", "bold warn"), "the file differs from its newest version"),
    "no_snapshot": (("no snapshot", "soft"), "no version was ever kept of this file"),
    "file_missing": (("FILE MISSING", "bold fail"), "history knows it, but there is no file"),
    "unreadable": (("UNREADABLE", "bold fail"), "the file cannot be read"),
    "no_history": (("–", "faint"), "a database row that is its own current state; no history is kept"),
    "unknown": (("history?", "warn"), "the history cannot be read now; that is not the same as having none"),
}


def version_cell(row: DefinitionSummary) -> Span:
    """The newest version, or that there is none."""
    return (f"v{row.version}", "soft") if row.version is not None else ("–", "faint")


class DefinitionsScreen(BrowseScreen[DefinitionSummary]):
    """All definitions by kind and name."""

    LIST: ClassVar[str] = "definitions"
    NOUN: ClassVar[tuple[str, str]] = ("definition", "definitions")
    TOPICS = frozenset({"store", "definitions"})

    def columns(self) -> Sequence[Column[DefinitionSummary]]:
        """Kind, name, version, drift, storage, description."""
        return (
            Column("kind", lambda row: (row.kind, "soft"), 9),
            Column("name", lambda row: (row.name, "ink"), 20, max_width=32, lead=True),
            Column("version", version_cell, 7, align="right", priority=2),
            Column("drift", lambda row: DRIFT[row.drift][0], 12),
            Column("kept as", lambda row: (KEPT.get(row.kind, "file, versions"), "soft"), 14, priority=4),
            Column("changed", lambda row: (fmt.when(row.modified_at, self.now()), "soft"), 7, align="right", priority=3),
            Column("about", self._about, 12, fill=True, priority=1),
        )

    def row_id(self, row: DefinitionSummary) -> str:
        """Kind and name."""
        return f"{row.kind}:{row.name}"

    def found_by(self, row: DefinitionSummary) -> str:
        """Kind, name, description and drift."""
        return f"{row.kind} {row.name} {row.description or ''} {DRIFT[row.drift][0][0]}"

    def nothing(self) -> Notice:
        """No file and no row."""
        return Notice(
            "no definitions", ("agents, playbooks and skills are files under this home; none is there yet",), token="soft"
        )

    def summary(self, rows: Sequence[DefinitionSummary]) -> Sequence[Span]:
        """How many files differ from their history."""
        edited = sum(1 for row in rows if row.drift in ("edited", "file_missing", "unreadable"))
        return [(f"   {edited} drifted", "warn")] if edited else ()

    def refresh_data(self) -> None:
        """Read the library."""
        self.ask(self.LIST, self.studio.definitions.list_definitions, self.show_all)

    def preview(self, row: DefinitionSummary, width: int) -> Sequence[Sequence[Span]]:
        """What it is, where it is, how it stands to its history."""
        (word, token), sentence = DRIFT[row.drift]
        lines = [
            [*heading(row.name), (f"  {row.kind} · {row.persistence}", "faint")],
            fact("drift", (word, token), (f"  {sentence}", "soft"), indent=3),
        ]
        if row.problem:
            lines += wrapped("problem", row.problem, width, "warn", limit=2, indent=3)
        if row.path:
            lines.append(fact("file", (row.path, "ink"), f"   {fmt.size(row.size_bytes)}", indent=3))
        if row.description:
            lines += wrapped("about", row.description, width, limit=2, indent=3)
        return lines

    @on(VirtualList.Opened)
    def _opened(self, event: VirtualList.Opened) -> None:
        row = self.list.row
        if row is not None and self.row_id(row) == event.row_id:
            from studio_tui.tui.screens.definition import DefinitionScreen  # TextArea and its grammars: 60 ms

            self.app.push_screen(DefinitionScreen(row.kind, row.name))

    @staticmethod
    def _about(row: DefinitionSummary) -> Span:
        return (row.problem, "warn") if row.problem else (row.description or "", "soft")
