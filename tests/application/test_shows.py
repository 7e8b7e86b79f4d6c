"""Shows: disk and store merged, play by play."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.application.errors import NotFound, StateUnavailable
from studio_tui.application.models.common import StateWord
from studio_tui.application.play_views import needs_person
from studio_tui.application.shows import ShowService
from studio_tui.domain.shows import PlayRecord, ShowRecord
from tests.fakes.ports import NOW, HeldClock, MemoryShows


class World:
    """A show service on two sides."""

    def __init__(self) -> None:
        self.store, self.disk = MemoryShows(), MemoryShows()
        self.service = ShowService(reads=self.store, files=self.disk, clock=HeldClock())

    def on_disk(self, *plays: PlayRecord, topic: str = "billing", **fields: Any) -> None:
        self.disk.shows.append(ShowRecord(topic=topic, plays=plays, **fields))

    def in_store(self, *plays: PlayRecord, topic: str = "billing", **fields: Any) -> None:
        self.store.shows.append(ShowRecord(topic=topic, plays=plays, show_id="id", **{"status": "active", **fields}))

    async def play(self, name: str = "api") -> Any:
        detail = await self.service.get_show("billing")
        return next(play for play in detail.plays if play.name == name)


@pytest.fixture
def world() -> World:
    return World()


async def test_the_disks_word_counts_and_the_difference_is_named(world: World) -> None:
    world.on_disk(PlayRecord("api", status="redoing", attempt=2, started_at=NOW - 60), status="active")
    world.in_store(PlayRecord("api", status="gate_failed", attempt=1, worktree="/wt", merge_sha=None, started_at=NOW - 600))
    play = await world.play()
    assert (play.status, play.state, play.attempt, play.source) == ("redoing", StateWord.REDO, 2, "both")
    assert play.live_state == "available"
    assert play.differences == ("status: store says gate_failed, disk says redoing", "attempt: store says 1, disk says 2")
    assert play.worktree == "/wt"
    assert play.sources == {"status": "disk", "attempt": "disk", "times": "disk", "worktree": "store"}
    assert play.duration == 60.0
    assert not play.needs_person


async def test_what_both_say_alike_comes_from_both(world: World) -> None:
    world.on_disk(PlayRecord("api", status="merged", merge_sha="9f31c2", merged_at=NOW))
    world.in_store(PlayRecord("api", status="merged", merge_sha="9f31c2", merged_at=NOW, session_id="run-1"))
    play = await world.play()
    assert play.sources == {"status": "both", "merge": "both", "session": "store"}
    assert play.differences == ()
    assert play.session_id == "run-1"


async def test_a_group_of_fields_comes_from_one_side_whole(world: World) -> None:
    world.on_disk(PlayRecord("api", status="running", started_at=NOW - 10))
    world.in_store(PlayRecord("api", status="running", started_at=NOW - 900, ended_at=NOW - 800))
    play = await world.play()
    assert (play.started_at, play.ended_at, play.duration) == (NOW - 10, None, 10.0)


@pytest.mark.parametrize("readable", [False, True])
async def test_a_play_that_cannot_be_read_is_unavailable_and_never_not_started(world: World, readable: bool) -> None:
    world.on_disk(*([PlayRecord("api", error="_meta.json is not JSON")] if readable else []), status="active")
    world.in_store(PlayRecord("api", status="pending", reason_code="play.pending.created"))
    play = await world.play()
    assert (play.live_state, play.state) == ("unavailable", StateWord.UNKNOWN)
    assert play.live_error == ("_meta.json is not JSON" if readable else "its directory is gone")
    assert play.reason == play.live_error
    assert play.needs_person
    assert play.differences == ()


async def test_plays_of_a_show_that_cannot_be_listed_are_not_said_to_be_gone(world: World) -> None:
    world.on_disk(status="active", error="permission denied")
    world.in_store(PlayRecord("api", status="running"))
    assert (await world.play()).live_error == "permission denied"


async def test_a_verdict_that_cannot_be_read_leaves_the_play_readable(world: World) -> None:
    world.on_disk(PlayRecord("api", status="gated", error="_verdict.json: not JSON"))
    play = await world.play()
    assert (play.live_state, play.state, play.live_error) == ("available", StateWord.GATE, "_verdict.json: not JSON")
    assert play.reason == "_verdict.json: not JSON"
    assert not play.needs_person


async def test_where_the_disk_says_nothing_the_stores_word_stands_and_a_new_play_is_pending(world: World) -> None:
    world.on_disk(PlayRecord("api"), PlayRecord("ui"))
    world.in_store(PlayRecord("api", status="merged"))
    plays = {play.name: play for play in (await world.service.get_show("billing")).plays}
    assert (plays["api"].status, plays["api"].live_state) == ("merged", "available")
    assert (plays["ui"].status, plays["ui"].state, plays["ui"].live_state) == ("pending", StateWord.WAIT, "available")


async def test_a_document_that_cannot_be_read_leaves_the_show_readable(world: World) -> None:
    world.on_disk(PlayRecord("a", status="merged"), status="completed", error="_show.md: not UTF-8")
    (show,) = await world.service.list_shows()
    assert (show.state, show.problem) == (StateWord.OK, "_show.md: not UTF-8")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": "running", "reason_summary": "api: running"}, ""),
        ({"status": "blocked", "reason_code": "play.blocked.dep_failed", "reason_summary": "dep_failed"},
         "a dependency failed"),
        ({"status": "running", "reason_code": "play.pending.ready"}, ""),
        ({"status": "pending", "reason_code": "play.pending.ready"}, "ready"),
        ({"status": "blocked", "reason_summary": "waits for legal"}, "waits for legal"),
        ({"status": "merged", "reason_code": "play.merged.ok"}, ""),
        ({"status": "gate_failed", "reason_code": "play.gate_failed.verdict"}, "gate said no"),
    ],
)  # fmt: skip
async def test_reasons_that_say_something(world: World, fields: dict[str, Any], words: str) -> None:
    world.on_disk(PlayRecord("api", **fields))
    assert (await world.play()).reason == words


async def test_a_show_that_is_not_on_disk_is_told_by_the_store_alone(world: World) -> None:
    world.in_store(PlayRecord("api", status="merged", sort_order=2), PlayRecord("ui", status="pending", sort_order=1))
    detail = await world.service.get_show("billing")
    assert (detail.source, detail.documents) == ("store", {})
    assert [(play.name, play.live_state, play.state) for play in detail.plays] == [
        ("ui", "not_on_disk", StateWord.WAIT),
        ("api", "not_on_disk", StateWord.MERGED),
    ]
    assert not any(play.needs_person for play in detail.plays)


async def test_a_play_that_only_the_disk_has_stands_behind_the_others(world: World) -> None:
    world.on_disk(PlayRecord("a-new", status="running"), PlayRecord("b-new", status="pending"), PlayRecord("z", status="merged"))
    world.in_store(PlayRecord("z", status="merged", sort_order=5))
    detail = await world.service.get_show("billing")
    assert [(play.name, play.source) for play in detail.plays] == [("z", "both"), ("a-new", "disk"), ("b-new", "disk")]


@pytest.mark.parametrize(
    ("status", "passed", "opted_in", "expected"),
    [
        ("gate_failed", None, False, True),
        ("escalated", True, False, True),
        ("gated", None, False, False),
        ("gated", True, False, False),
        ("gated", False, False, True),
        ("gated", True, True, True),
        ("running", False, True, False),
        ("merged", False, False, False),
        ("blocked", None, True, False),
        (None, None, True, False),
    ],
)
def test_which_plays_wait_for_a_person(status: str | None, passed: bool | None, opted_in: bool, expected: bool) -> None:
    assert needs_person(status, passed, opted_in=opted_in) is expected


async def test_asking_for_attention_counts_on_either_side(world: World) -> None:
    world.on_disk(PlayRecord("api", status="gated", attention_opt_in=True))
    world.in_store(PlayRecord("api", status="gated"))
    assert (await world.play()).needs_person


async def test_a_verdict_is_in_words(world: World) -> None:
    world.on_disk(
        PlayRecord("api", status="gate_failed", gate_passed=False, gate_feedback="no test"),
        PlayRecord("ui", status="gated", gate_passed=True),
        PlayRecord("db", status="pending"),
    )
    plays = {play.name: play for play in (await world.service.get_show("billing")).plays}
    assert [plays[name].gate for name in ("api", "ui", "db")] == ["failed", "passed", None]
    assert plays["api"].gate_feedback == "no test"


async def test_a_reason_of_the_store_counts_only_for_the_status_that_is_shown(world: World) -> None:
    world.on_disk(PlayRecord("api", status="running"), PlayRecord("ui", status="blocked"))
    blocked = {"status": "blocked", "reason_code": "play.blocked.dep_failed"}
    world.in_store(PlayRecord("api", **blocked), PlayRecord("ui", **blocked))
    assert (await world.play("api")).reason == ""
    assert (await world.play("ui")).reason == "a dependency failed"


async def test_a_list_sums_up_each_show_newest_first(world: World) -> None:
    world.on_disk(
        PlayRecord("a", status="merged"),
        PlayRecord("b", status="prepared"),
        PlayRecord("c", status="running"),
        PlayRecord("d", status="escalated"),
        status="active",
        goal="bill people",
        repo="shop",
        updated_at=NOW - 5,
        documents={"_show.md": "# Billing"},
    )
    world.in_store(status="imported", created_at=NOW - 900, updated_at=NOW - 500, goal="old words", repo="shop")
    world.in_store(topic="older", created_at=NOW - 9_000, updated_at=NOW - 800)
    world.on_disk(topic="undated")
    billing, older, undated = await world.service.list_shows()
    assert (billing.topic, billing.state, billing.status, billing.source) == ("billing", StateWord.ACTIVE, "active", "both")
    assert (billing.plays_total, billing.plays_merged, billing.gated, billing.active_play) == (4, 1, 1, "c")
    assert (billing.goal, billing.created_at, billing.updated_at) == ("bill people", NOW - 900, NOW - 5)
    assert billing.differences == ("status: store says imported, disk says active",)
    assert (older.topic, older.source) == ("older", "store")
    assert (undated.topic, undated.state) == ("undated", StateWord.UNKNOWN)
    assert world.store.asked == world.disk.asked == {"list_shows": 1}


async def test_a_detail_has_the_documents_and_branches(world: World) -> None:
    world.on_disk(documents={"_show.md": "# Billing"}, integration_branch="show/billing")
    world.in_store(base_branch="main", show_dir="/shows/billing")
    detail = await world.service.get_show("billing")
    assert detail.documents == {"_show.md": "# Billing"}
    assert (detail.base_branch, detail.integration_branch, detail.show_dir) == ("main", "show/billing", "/shows/billing")


async def test_a_show_that_cannot_be_read_is_one_row_with_its_error(world: World) -> None:
    world.on_disk(topic="bad", error="permission denied")
    world.on_disk(PlayRecord("a", status="merged"), topic="good", status="completed")
    bad, good = sorted(await world.service.list_shows(), key=lambda show: show.topic)
    assert (bad.state, bad.problem) == (StateWord.UNKNOWN, "permission denied")
    assert (good.state, good.problem) == (StateWord.OK, None)


async def test_a_store_that_cannot_answer_leaves_the_disk_visible_and_says_so(world: World) -> None:
    world.on_disk(PlayRecord("a", status="merged"), status="active")
    world.store.trouble = StateUnavailable("busy", retryable=True)
    (show,) = await world.service.list_shows()
    assert (show.source, show.problem) == ("disk", "the store could not be asked: busy")
    assert (await world.service.get_show("billing")).problem == "the store could not be asked: busy"


async def test_where_neither_side_answers_an_empty_list_is_not_the_answer(world: World) -> None:
    world.store.trouble = StateUnavailable("busy", retryable=True)
    with pytest.raises(StateUnavailable):
        await world.service.list_shows()
    with pytest.raises(StateUnavailable):
        await world.service.get_show("billing")


async def test_an_unknown_show_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        await world.service.get_show("nothing")


async def test_impossible_times_are_unknown(world: World) -> None:
    world.on_disk(PlayRecord("api", status="running", started_at=float("inf")), updated_at=1e30)
    detail = await world.service.get_show("billing")
    assert detail.plays[0].duration is None
    assert detail.updated_at is None
    assert detail.problem
    assert detail.problem.startswith("updated_at")
