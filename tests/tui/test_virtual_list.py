"""The list: record ids rule, only what changed is drawn, and its cost does not depend on how many rows there are."""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from studio_tui.tui.statuses import state_cell
from studio_tui.tui.themes import PALETTES, themes
from studio_tui.tui.widgets.columns import Column, RowLook, StripMaker, place
from studio_tui.tui.widgets.notice import Notice
from studio_tui.tui.widgets.virtual_list import VirtualList
from studio_tui.tui.widgets.window import Window
from tests.tui.conftest import nasty_strings


@dataclass(frozen=True)
class Record:
    key: str
    text: str = ""
    state: str = "OK"


COLUMNS = [
    Column[Record]("state", lambda row: state_cell(row.state), 8),
    Column[Record]("name", lambda row: (row.key, "ink"), 10, 20, lead=True),
    Column[Record]("kind", lambda row: ("agent", "soft"), 6, priority=1),
    Column[Record]("took", lambda row: ("1m02", "ink"), 6, priority=3, align="right"),
    Column[Record]("why", lambda row: (row.text, "soft"), 12, fill=True),
]


def records(*numbers: int, text: str = "") -> list[Record]:
    return [Record(f"r{number}", text) for number in numbers]


class CountingList(VirtualList[Record]):
    """Counts how often a line is asked for."""

    rendered = 0

    def render_line(self, y):  # type: ignore[no-untyped-def]
        type(self).rendered += 1
        return super().render_line(y)


class ListApp(App[None]):
    """One list and what it said."""

    ascii = False

    def __init__(self, rows: list[Record], *, max_rows: int = 1_000) -> None:
        super().__init__()
        for theme in themes():
            self.register_theme(theme)
        self.theme = "dark"
        self.list = CountingList(
            COLUMNS, lambda row: row.key, max_rows=max_rows, empty=Notice("none yet", ("why",), (("n", "new"),))
        )
        self._rows = rows
        self.said: list[tuple[str, str | None]] = []

    def compose(self) -> ComposeResult:
        yield self.list

    def on_mount(self) -> None:
        self.list.set_rows(self._rows)

    def on_virtual_list_moved(self, event: VirtualList.Moved) -> None:
        self.said.append(("moved", event.row_id))

    def on_virtual_list_opened(self, event: VirtualList.Opened) -> None:
        self.said.append(("opened", event.row_id))

    def on_virtual_list_need_more(self, event: VirtualList.NeedMore) -> None:
        self.said.append(("more", event.edge))

    def on_virtual_list_want_edge(self, event: VirtualList.WantEdge) -> None:
        self.said.append(("edge", event.edge))


@asynccontextmanager
async def shown(
    rows: list[Record], size: tuple[int, int] = (80, 12), **options: int
) -> AsyncIterator[tuple[ListApp, CountingList, Pilot[None]]]:
    app = ListApp(rows, **options)
    async with app.run_test(size=size) as pilot:
        app.list.focus()
        await pilot.pause()
        yield app, app.list, pilot


def lines(app: ListApp) -> list[str]:
    return [app.list._line(y).text.rstrip() for y in range(app.list.size.height)]


# --- cursor, marks, rows ----------------------------------------------------------------------------------------------


async def test_keys_move_and_open() -> None:
    async with shown(records(*range(40))) as (app, shown_list, pilot):
        await pilot.press("j", "down", "k")
        assert shown_list.cursor_id == "r1"
        await pilot.press("G")
        assert shown_list.cursor_id == "r39"
        assert lines(app)[-1].lstrip("▌ ").startswith("✓ OK      r39")
        await pilot.press("pageup")
        assert shown_list.cursor_id == "r29"
        await pilot.press("g", "enter")
        assert app.said[-1] == ("opened", "r0")


async def test_the_cursor_follows_its_record() -> None:
    async with shown(records(*range(40))) as (app, shown_list, pilot):
        await pilot.press(*"jjjjj")
        line = shown_list._window.cursor - shown_list._top
        shown_list.set_rows([*records(100, 101), *records(*range(40))])
        await pilot.pause()
        assert shown_list.cursor_id == "r5"
        assert app.said[-1] == ("moved", "r5")
        await pilot.press("G")
        line = shown_list._window.cursor - shown_list._top
        shown_list.set_rows(records(*range(200, 210), *range(40)))
        assert shown_list.cursor_id == "r39"
        assert shown_list._window.cursor - shown_list._top == line


async def test_a_vanished_record_gives_the_cursor_to_its_neighbour() -> None:
    async with shown(records(*range(10))) as (app, shown_list, pilot):
        await pilot.press(*"jjj")
        shown_list.set_rows(records(0, 1, 2, 5, 6))
        assert shown_list.cursor_id == "r5"
        shown_list.remove_rows(["r5", "r6"])
        assert shown_list.cursor_id == "r2"
        shown_list.set_rows([])
        await pilot.pause()
        assert shown_list.cursor_id is None
        assert app.said[-1] == ("moved", None)


async def test_marks_are_ids_and_survive_what_hides_them() -> None:
    async with shown(records(*range(10))) as (app, shown_list, pilot):
        await pilot.press("space", "space")
        assert shown_list.marks == {"r0", "r1"}
        assert lines(app)[1].startswith(" •")
        shown_list.set_rows(records(1, 2))
        assert (shown_list.marks, shown_list.hidden_marks) == ({"r0", "r1"}, 1)
        shown_list.remove_rows(["r1"])
        assert shown_list.marks == {"r0"}
        shown_list.clear_marks()
        assert not shown_list.marks


async def test_the_same_record_twice_is_shown_once() -> None:
    async with shown(records(1, 2, 2, 3)) as (_app, shown_list, _pilot):
        assert [row.key for row in shown_list.rows] == ["r1", "r2", "r3"]


async def test_another_query_begins_at_the_top() -> None:
    async with shown(records(*range(40))) as (_app, shown_list, pilot):
        await pilot.press("G")
        shown_list.set_rows(records(*range(100, 140)), fresh=True)
        assert (shown_list.cursor_id, shown_list._top) == ("r100", 0)


async def test_a_resize_keeps_the_record_in_view() -> None:
    async with shown(records(*range(100)), (80, 30)) as (app, shown_list, pilot):
        await pilot.press("G")
        for size in ((80, 5), (20, 3), (5, 2), (1, 1), (200, 60)):
            await pilot.resize_terminal(*size)
            assert shown_list.cursor_id == "r99"
            assert shown_list._top <= 99 < shown_list._top + shown_list._lines
        assert any("r99" in line for line in lines(app))


# --- pages ------------------------------------------------------------------------------------------------------------


async def test_more_is_asked_for_once_and_near_an_end() -> None:
    async with shown([]) as (app, shown_list, pilot):
        shown_list.set_rows(records(*range(200)), more_after=True)
        await pilot.pause()
        assert ("more", "after") not in app.said
        await pilot.press("G")
        await pilot.press("k", "j")
        assert app.said.count(("more", "after")) == 1
        assert ("edge", "after") in app.said
        assert lines(app)[0].endswith("↑↓")
        shown_list.add_rows(records(*range(200, 220)), "after", more=False)
        assert len(shown_list.rows) == 220
        assert shown_list.is_complete
        await pilot.press("G")
        assert shown_list.cursor_id == "r219"


async def test_a_page_before_moves_nothing_on_the_screen() -> None:
    async with shown([]) as (app, shown_list, pilot):
        shown_list.set_rows(records(*range(200, 300)), more_before=True)
        await pilot.pause()
        before = lines(app)
        CountingList.rendered = 0
        shown_list.add_rows(records(*range(100, 200)), "before", more=True)
        await pilot.pause()
        assert lines(app)[1:] == before[1:]
        assert CountingList.rendered <= 1
        assert shown_list.cursor_id == "r200"


async def test_rows_beyond_the_bound_are_let_go_at_the_other_end() -> None:
    async with shown([], max_rows=100) as (_app, shown_list, pilot):
        shown_list.set_rows(records(*range(80)), more_after=True)
        await pilot.press("G")
        shown_list.add_rows(records(*range(80, 130)), "after", more=False)
        assert [shown_list.rows[0].key, shown_list.rows[-1].key, shown_list.cursor_id] == ["r30", "r129", "r79"]
        assert not shown_list.is_complete
        shown_list.add_rows(records(*range(30)), "before", more=False)
        assert [shown_list.rows[0].key, shown_list.rows[-1].key] == ["r0", "r99"]


async def test_a_failed_page_is_asked_for_again() -> None:
    async with shown([]) as (app, shown_list, pilot):
        shown_list.set_rows(records(*range(30)), more_after=True)
        await pilot.press("G")
        shown_list.more_failed("after")
        await pilot.press("k")
        assert app.said.count(("more", "after")) == 2


# --- drawing ----------------------------------------------------------------------------------------------------------


async def test_a_key_draws_two_lines_of_a_hundred_thousand_rows() -> None:
    async with shown(records(*range(100_000)), (120, 40)) as (_app, shown_list, pilot):
        for key in ("j", "j", "k"):
            CountingList.rendered = 0
            await pilot.press(key)
            assert 0 < CountingList.rendered <= 3
        await pilot.press("G", "k")
        CountingList.rendered = 0
        await pilot.press("j")
        assert 0 < CountingList.rendered <= 3
        assert shown_list.cursor_id == "r99999"


async def test_only_changed_rows_are_drawn_again() -> None:
    async with shown(records(*range(30)), (120, 40)) as (app, shown_list, pilot):
        CountingList.rendered = 0
        shown_list.set_rows(records(*range(30)))
        await pilot.pause()
        assert CountingList.rendered == 0
        shown_list.update_rows(records(3, 99, text="it failed"))
        await pilot.pause()
        assert CountingList.rendered == 1
        assert "it failed" in lines(app)[4]
        shown_list.retick()
        await pilot.pause()
        assert CountingList.rendered == 1


async def test_leaving_the_view_scrolls_half_a_page() -> None:
    async with shown(records(*range(100)), (80, 21)) as (_app, shown_list, pilot):
        await pilot.press(*["j"] * 20)
        assert shown_list._top == 11
        CountingList.rendered = 0
        await pilot.press(*["j"] * 9)
        assert CountingList.rendered <= 18


async def test_states_are_said_in_words() -> None:
    async with shown([]) as (app, shown_list, _pilot):
        assert [line.strip() for line in lines(app) if line.strip()] == ["none yet", "why", "n new"]
        shown_list.set_rows(records(1, 2, 3))
        assert "none yet" not in "\n".join(lines(app))
        shown_list.say(Notice("the store does not answer", ("it is locked",), (("r", "read again"),), "warn"), stale=True)
        assert lines(app)[-1].strip() == "the store does not answer: it is locked   r read again"
        assert "r1" in lines(app)[1]
        shown_list.set_rows(records(1, 2, 3))
        assert lines(app)[-1] == ""


async def test_mouse_picks_and_opens() -> None:
    async with shown(records(*range(100)), (80, 12)) as (app, shown_list, pilot):
        await pilot.click(shown_list, offset=(5, 4))
        assert shown_list.cursor_id == "r3"
        await pilot.click(shown_list, offset=(5, 4), times=2)
        assert app.said[-1] == ("opened", "r3")
        await pilot.click(shown_list, offset=(5, 0))
        assert shown_list.cursor_id == "r3"
        shown_list._wheel(6)
        assert (shown_list._top, shown_list.cursor_id) == (6, "r6")
        shown_list._wheel(-99)
        assert (shown_list._top, shown_list.cursor_id) == (0, "r6")


@pytest.mark.parametrize("text", nasty_strings())
@pytest.mark.parametrize("width", [20, 80])
def test_hostile_rows_keep_the_right_edge_straight(text: str, width: int) -> None:
    placed = place(COLUMNS, width)
    for look in (RowLook(), RowLook(picked=True, marked=True)):
        strip = StripMaker(PALETTES["dark"], width).row(placed, Record(text, text), look)
        assert strip.cell_length == width == sum(segment.cell_length for segment in strip)
        assert not {unicodedata.category(character) for character in strip.text} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


def test_columns_give_way_by_priority() -> None:
    titles = [[one.column.title for one in place(COLUMNS, width)] for width in (120, 52, 46, 38)]
    assert titles[0] == ["state", "name", "kind", "took", "why"]
    assert titles[1] == ["state", "name", "kind", "took", "why"] or "took" not in titles[1]
    assert titles[2] == ["state", "name", "kind", "why"]
    assert titles[3] == ["state", "name", "why"]


@pytest.mark.parametrize("width", [*range(1, 20), *range(20, 140, 7)])
def test_placed_columns_never_exceed_the_width(width: int) -> None:
    maker = StripMaker(PALETTES["dark"], width)
    for strip in (
        maker.row(place(COLUMNS, width), Record("name"), RowLook(picked=True)),
        maker.header(place(COLUMNS, width), "↑↓"),
    ):
        assert sum(segment.cell_length for segment in strip) == width


def test_a_row_has_as_few_segments_as_it_has_colours() -> None:
    strip = StripMaker(PALETTES["dark"], 80).row(place(COLUMNS, 80), Record("name", "why"), RowLook())
    assert [segment.text.strip() for segment in strip] == ["✓ OK", "name", "agent", "1m02", "why"]


# --- the window, against a plain list ---------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.tuples(st.just("set"), st.sets(st.integers(0, 60))), st.tuples(st.just("move"), st.integers(-5, 80))))
)
def test_the_cursor_is_always_on_a_row_that_is_there(steps: list[tuple[str, object]]) -> None:
    window: Window[int] = Window(str, 1_000)
    for step, value in steps:
        before = window.cursor_id
        if step == "set":
            rows = sorted(value)  # type: ignore[call-overload]
            window.replace(rows, before=False, after=False)
            if before is not None and before in {str(row) for row in rows}:
                assert window.cursor_id == before
        else:
            window.cursor = value  # type: ignore[assignment]
        assert (window.cursor_id is None) == (not window.rows)
        assert window.cursor_id is None or window.cursor_id == str(window.rows[window.cursor])


@given(st.lists(st.tuples(st.sampled_from(["before", "after"]), st.integers(1, 40)), max_size=12))
def test_pages_from_both_ends_keep_the_order_and_the_bound(pages: list[tuple[str, int]]) -> None:
    window: Window[int] = Window(str, 50)
    window.replace(range(500, 520), before=True, after=True)
    for edge, size in pages:
        rows = list(window.rows)
        if edge == "after":
            window.extend(range(rows[-1] + 1, rows[-1] + 1 + size), "after", more=True)
        else:
            window.extend(range(rows[0] - size, rows[0]), "before", more=True)
        held = list(window.rows)
        assert held == list(range(held[0], held[0] + len(held)))
        assert len(held) <= 50
