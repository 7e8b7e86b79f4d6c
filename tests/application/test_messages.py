"""Transcripts: the five classes, what is withheld, and which messages stand in a window."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from studio_tui.application.errors import NotFound, ValidationFailure
from studio_tui.application.message_views import TEXT_LIMIT, message_view, paired
from studio_tui.application.models.runs import MessageQuery
from tests.application.records import Runs, a_branch, a_message, a_run
from tests.fakes.ports import NOW


@pytest.fixture
def world() -> Runs:
    world = Runs()
    world.runs.runs = [a_run(progression_id="all")]
    world.messages.progressions = {"all": [a_message(f"m{n}") for n in range(10)]}
    return world


def _one(lion_class: str, content: Any, **fields: Any) -> dict[str, Any]:
    return message_view(a_message("m", lion_class, content, **fields)).model_dump(exclude_defaults=True, exclude={"at", "sender"})


def test_the_five_classes_are_read_by_their_own_keys() -> None:
    assert _one("System", {"system_message": "be brief"})["text"] == "be brief"
    assert _one("Instruction", {"instruction": "count"}) == {
        "message_id": "m",
        "kind": "instruction",
        "text": "count",
        "size_bytes": 10,
    }
    assert _one("AssistantResponse", {"assistant_response": "three"})["text"] == "three"
    call = _one("ActionRequest", {"function": "ls", "arguments": {"path": "/", "deep": True}, "action_response_id": "r"})
    assert (call["kind"], call["function"], call["arguments"]) == ("tool_call", "ls", '{"path":"/","deep":true}')
    assert call["call_id"] == "r"
    result = _one(
        "ActionResponse",
        {"function": "ls", "arguments": {}, "output": {"files": ["ä"]}, "action_request_id": "q", "error": "late"},
    )
    assert (result["kind"], result["output"], result["error"]) == ("tool_result", '{"files":["ä"]}', "late")
    assert result["call_id"] == "q"


def test_an_instruction_shows_what_came_with_it() -> None:
    text = _one(
        "Instruction",
        {
            "instruction": {"task": "count"},
            "guidance": "slowly",
            "prompt_context": ["a file", {"b": 1}],
            "tool_schemas": [{}, {}],
            "images": ["…"],
        },
    )["text"]
    assert text == '{"task":"count"}\n\nguidance: slowly\n\ncontext: a file\n\ncontext: {"b":1}\n\ntool schemas: 2\n\nimages: 1'


def test_plain_content_is_preferred_and_odd_shapes_do_no_harm() -> None:
    assert _one("Instruction", {"plain_content": "said", "instruction": "built"})["text"] == "said"
    assert _one("Instruction", {"prompt_context": "alone"})["text"] == "context: alone"
    assert "text" not in _one("AssistantResponse", {})
    assert _one("AssistantResponse", {"assistant_response": {"answer": 3}})["text"] == '{"answer":3}'
    assert _one("ActionRequest", {"function": 7, "arguments": "raw"})["arguments"] == "raw"
    assert "output" not in _one("ActionResponse", {"output": None})
    assert _one("ActionResponse", {"output": ""}).get("output") == ""
    assert _one("ActionResponse", {"output": 0}).get("output") == "0"
    assert "call_id" not in _one("ActionRequest", {"action_response_id": {"id": 1}})


def test_an_unknown_class_is_shown_as_such() -> None:
    shown = _one("Note", {"text": "hello"})
    assert shown["kind"] == "unknown"
    assert shown["text"] == 'Note: {"text":"hello"}'
    assert message_view(a_message("m", "", {"x": 1}, role="unset")).text == 'unset: {"x":1}'


def test_a_long_text_is_cut_and_its_size_said() -> None:
    long = "x" * (TEXT_LIMIT + 5_000)
    text = _one("AssistantResponse", {"assistant_response": long})["text"]
    assert text.startswith("x" * TEXT_LIMIT + "\n")
    assert f"{TEXT_LIMIT + 5_000:,}" in text
    assert len(text) < TEXT_LIMIT + 100
    output = _one("ActionResponse", {"output": [long]})["output"]
    assert len(output) < TEXT_LIMIT + 100
    whole = "x" * TEXT_LIMIT
    assert _one("AssistantResponse", {"assistant_response": whole})["text"] == whole


def test_bodies_that_are_not_here_are_told_apart() -> None:
    withheld = message_view(replace(a_message("m"), content=None, size_bytes=30_000_000))
    assert (withheld.withheld_bytes, withheld.pruned_bytes, withheld.error) == (30_000_000, None, None)
    pruned = _one("AssistantResponse", {"lion_content_pruned": {"at": NOW, "original_bytes": 900}})
    assert pruned["pruned_bytes"] == 900
    odd = _one("AssistantResponse", {"lion_content_pruned": {"original_bytes": "many"}})
    assert odd["pruned_bytes"] == 0
    mixed = _one("AssistantResponse", {"lion_content_pruned": {"original_bytes": 9}, "assistant_response": "kept"})
    assert mixed["text"] == "kept"


def test_a_body_that_cannot_be_read_says_so() -> None:
    broken = replace(a_message("m", "System"), content=None, created_at=float("inf"))
    view = message_view(broken)
    assert view.error
    assert view.withheld_bytes is None
    assert view.at is None


def test_calls_and_results_in_one_window_name_each_other() -> None:
    call = a_message("call", "ActionRequest", {"function": "ls", "arguments": {}})
    result = a_message("result", "ActionResponse", {"function": "ls", "output": "x", "action_request_id": "call"})
    alone = a_message("alone", "ActionRequest", {"function": "rm", "arguments": {}})
    assert [view.call_id for view in paired([message_view(row) for row in (call, result, alone)])] == ["result", "call", None]


def test_views_are_json() -> None:
    view = message_view(a_message("m", "Note", {"deep": [{"a": [1, None, True]}]}))
    assert json.loads(view.model_dump_json())["text"] == 'Note: {"deep":[{"a":[1,null,true]}]}'


@pytest.mark.parametrize(
    ("lion_class", "content"),
    [
        ("AssistantResponse", {"assistant_response": "half \ud83d"}),
        ("Instruction", {"instruction": "x", "guidance": "\ude00"}),
        ("ActionRequest", {"function": "\ud83d", "arguments": {"\ud83d": "\ud83d"}, "action_response_id": "\ud83d"}),
        ("ActionResponse", {"output": ["\ud83d"], "error": "\ud83d"}),
        ("Note", {"\ud83d": 1}),
    ],
)
def test_halves_of_characters_are_marked_so_that_every_view_can_be_sent(lion_class: str, content: dict[str, Any]) -> None:
    assert "\ufffd" in message_view(a_message("m", lion_class, content)).model_dump_json()


async def test_a_window_of_heavy_bodies_lets_others_run_in_between(world: Runs) -> None:
    world.messages.progressions["all"] = [a_message(f"m{n}", size_bytes=1_000_000) for n in range(10)]
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await world.service.list_messages(MessageQuery(run_id="run-1"))
    counting.cancel()
    assert turns >= 9


async def test_the_tail_then_what_stands_before_it_then_what_was_added(world: Runs) -> None:
    tail = await world.service.list_messages(MessageQuery(run_id="run-1", limit=4))
    assert [view.message_id for view in tail.items] == ["m6", "m7", "m8", "m9"]
    assert tail.has_older
    before = await world.service.list_messages(MessageQuery(run_id="run-1", before=tail.start, limit=100))
    assert [view.message_id for view in before.items] == [f"m{n}" for n in range(6)]
    assert not before.has_older
    world.messages.progressions["all"].append(a_message("new"))
    after = await world.service.list_messages(MessageQuery(run_id="run-1", after=tail.end))
    assert [view.message_id for view in after.items] == ["new"]
    assert (await world.service.list_messages(MessageQuery(run_id="run-1", after=after.end))).items == ()


async def test_a_transcript_follows_while_its_run_goes_on(world: Runs) -> None:
    assert not (await world.service.list_messages(MessageQuery(run_id="run-1"))).live
    world.runs.runs = [a_run(progression_id="all", status="running")]
    assert (await world.service.list_messages(MessageQuery(run_id="run-1"))).live


async def test_a_system_message_outside_the_list_comes_first_once_the_beginning_is_reached(world: Runs) -> None:
    world.runs.branch_rows = [a_branch(system_message_id="sys", progression_id="one")]
    world.messages.loose = [a_message("sys", "System", {"system_message": "be brief"})]
    whole = await world.service.list_messages(MessageQuery(run_id="run-1"))
    assert [view.message_id for view in whole.items][:2] == ["sys", "m0"]
    cut = await world.service.list_messages(MessageQuery(run_id="run-1", limit=3))
    assert [view.message_id for view in cut.items] == ["m7", "m8", "m9"]
    later = await world.service.list_messages(MessageQuery(run_id="run-1", after=0))
    assert later.items[0].message_id == "m0"


async def test_a_system_message_that_is_in_the_list_is_not_shown_twice(world: Runs) -> None:
    world.runs.branch_rows = [a_branch(system_message_id="m3")]
    whole = await world.service.list_messages(MessageQuery(run_id="run-1"))
    assert [view.message_id for view in whole.items] == [f"m{n}" for n in range(10)]


async def test_each_branch_shows_its_own_messages_and_system_message(world: Runs) -> None:
    world.runs.branch_rows = [
        a_branch("b1", progression_id="one", system_message_id="s1"),
        a_branch("b2", progression_id="two", system_message_id="s2"),
    ]
    world.messages.progressions |= {"one": [a_message("m1")], "two": [a_message("m2")]}
    world.messages.loose = [a_message("s1", "System"), a_message("s2", "System")]
    second = await world.service.list_messages(MessageQuery(run_id="run-1", branch_id="b2"))
    assert [view.message_id for view in second.items] == ["s2", "m2"]
    whole = await world.service.list_messages(MessageQuery(run_id="run-1"))
    assert whole.items[0].message_id == "m0"


async def test_a_run_without_messages_is_an_empty_transcript(world: Runs) -> None:
    world.runs.runs = [a_run(progression_id=None)]
    page = await world.service.list_messages(MessageQuery(run_id="run-1"))
    assert (page.items, page.start, page.end, page.has_older) == ((), 0, 0, False)


async def test_a_system_message_that_was_pruned_away_is_simply_not_there(world: Runs) -> None:
    world.runs.branch_rows = [a_branch(system_message_id="gone")]
    whole = await world.service.list_messages(MessageQuery(run_id="run-1"))
    assert whole.items[0].message_id == "m0"


async def test_wrong_windows_are_refused(world: Runs) -> None:
    with pytest.raises(ValidationFailure):
        await world.service.list_messages(MessageQuery(run_id="run-1", before=1, after=1))
    with pytest.raises(NotFound) as branch:
        await world.service.list_messages(MessageQuery(run_id="run-1", branch_id="nope"))
    assert branch.value.resource == "branch"
    with pytest.raises(NotFound) as run:
        await world.service.list_messages(MessageQuery(run_id="nope"))
    assert run.value.resource == "run"
