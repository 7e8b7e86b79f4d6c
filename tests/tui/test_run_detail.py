"""One run: its transcript from the end, followed while it lives, and its facts."""

from __future__ import annotations

from studio_tui.application.models.common import StateWord, StatusChange
from studio_tui.application.models.runs import BranchSummary, MessageView, Provenance, RunDetail
from studio_tui.tui.app import StudioApp
from studio_tui.tui.screens.run_detail import RunDetailScreen
from studio_tui.tui.widgets.transcript import Transcript
from tests.fakes.studio import NOW, FakeStudio
from tests.tui.conftest import Console, harmless, nasty_strings, screen_text, wait_until
from tests.tui.samples import a_call, a_run, messages


def transcript(app: StudioApp) -> Transcript:
    return app.screen.query_one(Transcript)


async def open_run(app: StudioApp, run_id: str) -> Transcript:
    app.push_screen(RunDetailScreen(run_id))
    await wait_until(lambda: any(not shown.is_empty for shown in app.screen.query(Transcript)))
    return transcript(app)


def live(studio: FakeStudio) -> str:
    run = a_run(1, status="running", state=StateWord.RUN, ended_at=None, duration=None)
    studio.runs.rows = [run]
    studio.runs.live.add(run.run_id)
    return run.run_id


async def test_the_end_is_shown_first_and_older_messages_come_without_a_jump(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = [a_run(1)]
    studio.runs.messages["run-000001"] = messages(1_000)
    async with console() as (app, pilot):
        shown = await open_run(app, "run-000001")
        assert any("message number 999" in line for line in screen_text(app))
        assert len(shown.entries) == 200
        for _ in range(60):
            await pilot.press("pageup")
            await pilot.pause()
            if len(shown.entries) > 200:
                break
        first_lines = screen_text(app)
        numbers = [int(line.split("message number ")[1].split()[0]) for line in first_lines if "message number" in line]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        for _ in range(100):
            await pilot.press("pageup")
            await pilot.pause()
            if shown.start == 0:
                break
        await pilot.press("g")
        await wait_until(lambda: any("message number 0" in line for line in screen_text(app)))


async def test_a_live_run_is_followed_until_somebody_scrolls_up(studio: FakeStudio, console: Console) -> None:
    run_id = live(studio)
    studio.runs.messages[run_id] = messages(100)
    async with console() as (app, pilot):
        shown = await open_run(app, run_id)
        assert shown.following
        studio.runs.messages[run_id] += messages(3, begin=100)
        studio.changes.nudge("store")
        await wait_until(lambda: any("message number 102" in line for line in screen_text(app)))
        await pilot.press("pageup")
        assert not shown.following
        top = screen_text(app)[8]
        studio.runs.messages[run_id] += messages(5, begin=103)
        studio.changes.nudge("store")
        await wait_until(lambda: any("below, F follows" in line for line in screen_text(app)))
        await wait_until(lambda: len(shown.entries) == 108)
        assert screen_text(app)[8] == top
        await pilot.press("F")
        await wait_until(lambda: any("message number 107" in line for line in screen_text(app)))
        assert shown.following


async def test_a_burst_of_messages_loses_none(studio: FakeStudio, console: Console) -> None:
    run_id = live(studio)
    studio.runs.messages[run_id] = messages(10)
    async with console() as (app, _pilot):
        shown = await open_run(app, run_id)
        studio.runs.messages[run_id] += messages(500, begin=10)
        studio.changes.nudge("store")
        await wait_until(lambda: len(shown.entries) == 510)
        assert [entry.entry_id for entry in shown.entries] == [f"m{number}" for number in range(510)]


async def test_a_call_and_its_answer_are_one_line_that_opens(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = [a_run(1)]
    studio.runs.messages["run-000001"] = [*messages(2), *a_call(1, output="forty lines"), *a_call(2, error="timeout after 5s")]
    async with console() as (app, pilot):
        shown = await open_run(app, "run-000001")
        assert len(shown.entries) == 4
        text = "\n".join(screen_text(app))
        assert "read_file  a.md" in text
        assert "timeout after 5s" in text
        assert "forty lines" not in text
        await pilot.press("k", "enter")
        await wait_until(lambda: any("forty lines" in line for line in screen_text(app)))
        await pilot.press("enter")
        await wait_until(lambda: not any("forty lines" in line for line in screen_text(app)))


async def test_bodies_that_are_gone_or_too_large_say_so(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = [a_run(1)]
    studio.runs.messages["run-000001"] = [
        MessageView(message_id="a", kind="assistant", pruned_bytes=12_345),
        MessageView(message_id="b", kind="assistant", withheld_bytes=31_000_000),
        MessageView(message_id="c", kind="unknown", text="a class of tomorrow"),
    ]
    async with console() as (app, _pilot):
        await open_run(app, "run-000001")
        text = "\n".join(screen_text(app))
        assert "body reclaimed by retention, 12 kB" in text
        assert "body of 31 MB withheld" in text
        assert "a class of tomorrow" in text


async def test_facts_say_where_it_came_from_and_how_it_went(studio: FakeStudio, console: Console) -> None:
    run = a_run(1, status="failed", state=StateWord.FAIL, reason="rate limit")
    studio.runs.rows = [run]
    studio.runs.messages[run.run_id] = messages(2)
    studio.runs.details[run.run_id] = RunDetail(
        **run.model_dump(),
        branches=(BranchSummary(branch_id="b1", name="writer"), BranchSummary(branch_id="b2", name="critic")),
        history=(
            StatusChange(at=NOW, previous_status="running", status="failed", reason_code="run.failed.exception",
                         reason_summary="boom", source="executor", actor="worker"),
        ),
        provenance=Provenance(invocation_id="inv1", schedule_name="weekly", schedule_id="s1", firing_id="f1"),
        missing_required=("review.md",),
    )  # fmt: skip
    async with console((140, 40)) as (app, pilot):
        await open_run(app, run.run_id)
        await wait_until(lambda: any("weekly" in line for line in screen_text(app)))
        text = "\n".join(screen_text(app))
        for said in (
            "rate limit",
            "running → failed",
            "run.failed.exception",
            "by executor worker",
            "review.md",
            "writer",
            "inv1",
        ):
            assert said in text
        await pilot.press("l")
        await wait_until(lambda: any("branch 1 of 2: writer" in line for line in screen_text(app)))
        asked = studio.runs.calls
        await wait_until(lambda: any(name == "list_messages" and query.branch_id == "b1" for name, query in asked))


async def test_at_80_columns_log_and_facts_are_one_key_apart(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = [a_run(1, reason="limit reached", state=StateWord.TIME, status="timed_out")]
    studio.runs.messages["run-000001"] = messages(3)
    async with console((80, 24)) as (app, pilot):
        await open_run(app, "run-000001")
        assert any("message number 2" in line for line in screen_text(app))
        await pilot.press("tab")
        await wait_until(lambda: any("limit reached" in line for line in screen_text(app)))
        assert not any("message number 2" in line for line in screen_text(app))
        await pilot.press("tab")
        await wait_until(lambda: any("message number 2" in line for line in screen_text(app)))


async def test_any_text_of_a_message_is_shown_and_does_nothing(studio: FakeStudio, console: Console) -> None:
    studio.runs.rows = [a_run(1)]
    texts = nasty_strings()
    studio.runs.messages["run-000001"] = [
        MessageView(message_id=f"x{number}", kind=kind, text=text, function=text, arguments=text, output=text, error=text)
        for number, text in enumerate(texts)
        for kind in ("assistant", "tool_call")
    ]
    async with console() as (app, pilot):
        await open_run(app, "run-000001")
        await pilot.press("E")
        for _ in range(20):
            await pilot.press("pageup")
        assert harmless(app)
