"""Shows and definitions: who says what, and that unknown is never drawn as fine."""

from __future__ import annotations

import pytest

from studio_tui.application.models.common import StateWord
from studio_tui.application.models.definitions import DefinitionDetail, DefinitionSummary, DefinitionVersion
from studio_tui.application.models.shows import PlayView, ShowDetail, ShowSummary
from studio_tui.tui.screens.definition import DefinitionScreen
from studio_tui.tui.screens.show import ShowScreen
from studio_tui.tui.widgets.source_view import SourceView
from tests.fakes.studio import NOW, FakeStudio
from tests.tui.conftest import Console, harmless, nasty_strings, screen_text, wait_until

SHOW = ShowSummary(
    topic="atlas", state=StateWord.ACTIVE, status="active", source="both", goal="Ship it.", plays_total=3, plays_merged=1, gated=1
)
AGENT = DefinitionSummary(kind="agent", name="reviewer", persistence="file with history", drift="edited", version=2)


async def test_a_show_opens_on_its_plays_with_what_each_source_says(studio: FakeStudio, console: Console) -> None:
    studio.shows.rows = [SHOW]
    studio.shows.details["atlas"] = ShowDetail(
        **SHOW.model_dump(),
        plays=(
            PlayView(name="parser", state=StateWord.MERGED, status="merged", source="both", live_state="available"),
            PlayView(
                name="bench", state=StateWord.GATE_FAILED, status="gate_failed", source="both", live_state="available",
                gate="failed", gate_feedback="slower than before", needs_person=True, differences=("status: store says gated",),
            ),
            PlayView(
                name="ghost", state=StateWord.UNKNOWN, status=None, source="store", live_state="unavailable",
                live_error="_meta.json is not JSON", depends_on=("bench",),
            ),
        ),
    )  # fmt: skip
    async with console(initial="shows") as (app, pilot):
        await wait_until(lambda: any("1/3" in line for line in screen_text(app)))
        assert any("1 play waits for a person" in line for line in screen_text(app))
        await pilot.press("enter")
        await wait_until(lambda: isinstance(app.screen, ShowScreen) and any("bench" in line for line in screen_text(app)))
        await pilot.press("j")
        await wait_until(lambda: any("slower than before" in line for line in screen_text(app)))
        text = "\n".join(screen_text(app))
        assert "store says gated" in text
        assert "holds up" in text
        await pilot.press("j")
        await wait_until(lambda: sum("unavailable" in line for line in screen_text(app)) == 2)
        assert "pending" not in "\n".join(screen_text(app))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_words_about_a_play_are_broken_to_the_room_that_there_is(
    studio: FakeStudio, console: Console, size: tuple[int, int]
) -> None:
    feedback = "the tests of the parser fail in one place and pass in all others"
    studio.shows.rows = [SHOW]
    play = PlayView(
        name="parser", state=StateWord.GATE, status="gated", source="both", live_state="available", gate_feedback=feedback
    )
    studio.shows.details["atlas"] = ShowDetail(**SHOW.model_dump(), plays=(play,))
    async with console(size, initial="shows") as (app, pilot):
        await pilot.press("enter")
        whole = "the tests of the parser fail" if size[0] == 120 else "the tests of the parser fail in one place and pass"
        await wait_until(lambda: any(whole in line for line in screen_text(app)))


async def test_a_definition_shows_its_text_and_any_version(studio: FakeStudio, console: Console) -> None:
    studio.definitions.rows = [AGENT]
    studio.definitions.details["agent", "reviewer"] = DefinitionDetail(
        **AGENT.model_dump(),
        content="---\nmodel: sonnet\n---\nthe file of today\n",
        versions=(
            DefinitionVersion(version=2, created_at=NOW, message="cheaper", content_length=10),
            DefinitionVersion(version=1, created_at=NOW - 9e5, message=None, content_length=10),
        ),
    )
    studio.definitions.versions["agent", "reviewer", 2] = "the second version\n"
    async with console(initial="definitions") as (app, pilot):
        await wait_until(lambda: any("EDITED" in line for line in screen_text(app)))
        await pilot.press("enter")
        await wait_until(lambda: isinstance(app.screen, DefinitionScreen))
        await wait_until(lambda: any("the file of today" in line for line in screen_text(app)))
        assert any("cheaper" in line for line in screen_text(app))
        await pilot.press("j")
        await wait_until(lambda: any("the second version" in line for line in screen_text(app)))
        assert app.screen.query_one(SourceView).source == "the second version\n"


async def test_history_that_cannot_be_read_is_not_an_empty_one(studio: FakeStudio, console: Console) -> None:
    row = AGENT.model_copy(update={"drift": "unknown", "version": None})
    studio.definitions.rows = [row]
    studio.definitions.details["agent", "reviewer"] = DefinitionDetail(**row.model_dump(), content="x", history_available=False)
    async with console(initial="definitions") as (app, pilot):
        await wait_until(lambda: any("history?" in line for line in screen_text(app)))
        await pilot.press("enter")
        await wait_until(lambda: any("the history cannot be read now" in line for line in screen_text(app)))


async def test_a_file_that_is_not_text_says_why(studio: FakeStudio, console: Console) -> None:
    row = AGENT.model_copy(update={"drift": "unreadable", "problem": "not UTF-8 at byte 12"})
    studio.definitions.rows = [row]
    async with console(initial="definitions") as (app, pilot):
        await wait_until(lambda: any("UNREADABLE" in line for line in screen_text(app)))
        await pilot.press("enter")
        await wait_until(lambda: isinstance(app.screen, DefinitionScreen))
        await wait_until(lambda: any("not UTF-8 at byte 12" in line for line in screen_text(app)))


async def test_any_text_of_a_file_is_shown_and_does_nothing(studio: FakeStudio, console: Console) -> None:
    texts = nasty_strings()
    studio.definitions.rows = [
        DefinitionSummary(kind="agent", name=text or "-", persistence="file", description=text, path=text, problem=text)
        for text in texts
    ]
    studio.shows.rows = [
        ShowSummary(topic=text or "-", state=StateWord.ACTIVE, status=text, source="disk", goal=text) for text in texts
    ]
    name = texts[0] or "-"
    studio.definitions.details["agent", name] = DefinitionDetail(
        **studio.definitions.rows[0].model_dump(), content="\n".join(texts), language="markdown"
    )
    async with console(initial="definitions") as (app, pilot):
        await wait_until(lambda: len(screen_text(app)) > 5)
        for _ in range(len(texts)):
            await pilot.press("j")
        await pilot.press("g", "enter")
        await wait_until(lambda: isinstance(app.screen, DefinitionScreen))
        await pilot.pause()
        assert harmless(app)
        await pilot.press("escape", "2")
        await pilot.pause()
        assert harmless(app)
