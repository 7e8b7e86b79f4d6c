"""How the screens look, at the sizes that must work, and in the themes that must carry every state."""

from __future__ import annotations

import re

import pytest
from textual.widgets import Input

from studio_tui.application.models.host import HostStatus, MissedFire
from studio_tui.tui.app import StudioApp
from studio_tui.tui.statuses import LOOKS
from tests.fakes.studio import NOW, FakeStudio
from tests.snapshots.conftest import Compare
from tests.snapshots.worlds import full_studio
from tests.tui.conftest import Console, screen_text, wait_until

SIZES = ((80, 24), (120, 40), (200, 60))
SCREENS = {
    "runs": ("weekly-digest", "message number 9"),
    "shows": ("atlas-v2", "Ship version two"),
    "schedules": ("shop-audit", "/srv/app"),
    "definitions": ("reviewer", "412 B"),
}
DETAILS = {
    "runs": (("down", "enter"), "timeout after 5s"),
    "shows": (("enter",), "polish"),
    "schedules": (("enter",), "disk full"),
    "definitions": (("enter",), "List defects first"),
}


@pytest.fixture
def studio() -> FakeStudio:
    """Something of everything."""
    return full_studio()


async def settled(app: StudioApp, *texts: str) -> None:
    await wait_until(lambda: all(any(text in line for line in screen_text(app)) for text in texts))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
@pytest.mark.parametrize("place", SCREENS)
async def test_screen(console: Console, same: Compare, place: str, size: tuple[int, int]) -> None:
    async with console(size, initial=place) as (app, pilot):
        first, last = SCREENS[place]
        if place == "runs":
            await pilot.press("down")
            await settled(app, "12k in")
        await settled(app, first, *((last,) if size[0] >= 120 else ()))
        assert await same(pilot)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
@pytest.mark.parametrize("place", DETAILS)
async def test_detail(console: Console, same: Compare, place: str, size: tuple[int, int]) -> None:
    async with console(size, initial=place) as (app, pilot):
        await settled(app, SCREENS[place][0])
        keys, text = DETAILS[place]
        await pilot.press(*keys)
        await settled(app, text)
        assert await same(pilot)


@pytest.mark.parametrize("theme", ["light", "contrast", "ansi", "mono"])
async def test_theme(console: Console, same: Compare, theme: str) -> None:
    async with console((120, 40), theme=theme) as (app, pilot):
        await pilot.press("down")
        await settled(app, "message number 9")
        assert await same(pilot)


async def test_the_question_about_missed_fires(console: Console, studio: FakeStudio, same: Compare) -> None:
    async with console((80, 24)) as (app, pilot):
        await settled(app, "pr-review #8812", "4 need you", "12k in")
        studio.host.now = HostStatus(
            state="held",
            missed=(
                MissedFire(schedule_id="a", name="backup", due_at=NOW - 3_000, policy="run_once"),
                MissedFire(schedule_id="b", name="report", due_at=NOW - 90_000, policy="skip"),
            ),
        )
        await pilot.press("M")
        await settled(app, "○ 2 missed", "will run once")
        assert await same(pilot)


async def test_the_form(console: Console, same: Compare) -> None:
    async with console((80, 24), initial="schedules") as (app, pilot):
        await settled(app, "shop-audit")
        await pilot.press("n")
        await settled(app, "executable and arguments")
        assert app.screen.query(Input)
        assert await same(pilot)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
@pytest.mark.parametrize(
    ("key", "text"),
    [("!", "NO    overlap"), ("e", "change shop-audit"), ("D", "61 recorded firings vanish")],
    ids=["why", "edit", "delete"],
)
async def test_on_one_schedule(console: Console, same: Compare, size: tuple[int, int], key: str, text: str) -> None:
    async with console(size, initial="schedules") as (app, pilot):
        await settled(app, "shop-audit")
        await pilot.press(key)
        await settled(app, text)
        assert await same(pilot)


async def test_a_side_pane_of_tmux(console: Console, same: Compare) -> None:
    async with console((60, 16), initial="schedules") as (app, pilot):
        await settled(app, "shop-audit")
        assert await same(pilot)


@pytest.mark.parametrize("place", SCREENS)
async def test_text_alone_carries_every_state(console: Console, place: str) -> None:
    """Without any colour each state on the screen is a word of its own."""
    async with console((120, 40), initial=place, theme="mono", ascii=True) as (app, _pilot):
        await settled(app, SCREENS[place][0])
        text = "\n".join(screen_text(app))
        words = {"runs": {"FAIL", "RUN", "RUN?", "OK", "OK/REJ", "TIME", "CANC", "LOST", "EMPTY", "ABRT"}}
        words["schedules"] = {"ON", "OFF", "BROKEN", "DONE", "failing", "overdue", "cannot fire", "in trouble"}
        words["shows"] = {"ACTIVE", "ABRT", "UNSURE"}
        words["definitions"] = {"EDITED", "same", "no snapshot", "FILE MISSING", "UNREADABLE"}
        missing = {word for word in words[place] if not re.search(rf"(?<!\w){re.escape(word)}(?![\w/?])", text)}
        assert not missing
        glyphs = {look.glyph for look in LOOKS.values() if not look.glyph.isascii()} - {"·"}  # a separator of words, too
        assert not [glyph for glyph in glyphs if glyph in text]
