"""Windows of a transcript: cut from the stored id list without reading it whole, in its order, past ids that name nothing."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio_tui.domain.runs import MessageWindow
from studio_tui.state.db import StateDB
from studio_tui.state.schema import messages as messages_table
from studio_tui.state.stores import id_pieces
from studio_tui.state.stores import messages as module
from studio_tui.state.stores.id_lists import IdAt, NotAnIdList, ids_after, ids_before
from studio_tui.state.stores.messages import MessageStore
from tests.builders import (
    INSTRUCTION,
    NOW,
    REQUEST,
    RESPONSE,
    SYSTEM,
    a_message,
    a_progression,
    messages_of,
    put,
    run_sql,
)

MEGABYTE = 1_048_576


@pytest.fixture
def transcripts(db: StateDB) -> MessageStore:
    return MessageStore(db)


def ids_in(window: MessageWindow) -> list[str]:
    return [message.message_id for message in window.messages]


async def append(db: StateDB, progression_id: str, *message_ids: str) -> None:
    """As lionagi 0.36 appends: the list is written anew, without blanks on SQLite and with blanks on PostgreSQL."""
    appended = {
        "sqlite": "json_insert(collection, '$[#]', CAST(:message AS text))",
        "postgresql": "(CAST(collection AS jsonb) || jsonb_build_array(CAST(:message AS text)))::text",
    }
    for message_id in message_ids:
        sql = f"UPDATE progressions SET collection = {appended[db.dialect]} WHERE id = :id"
        await run_sql(db, sql.replace("::", "\\:\\:"), message=message_id, id=progression_id)


async def store_list(db: StateDB, text: str | bytes) -> str:
    progression_id = await a_progression(db)
    await run_sql(db, "UPDATE progressions SET collection = :text WHERE id = :id", text=text, id=progression_id)
    return progression_id


# --- windows ----------------------------------------------------------------------------------------------------------


async def test_the_newest_then_older_until_the_beginning(db: StateDB, transcripts: MessageStore) -> None:
    ids = await messages_of(db, 25)
    progression = await a_progression(db, ids)
    window = await transcripts.tail(progression, limit=10)
    assert (ids_in(window), window.older) == (ids[15:], True)
    older = await transcripts.before(progression, window.start, limit=10)
    assert (ids_in(older), older.older, older.end <= window.start) == (ids[5:15], True, True)
    oldest = await transcripts.before(progression, older.start, limit=10)
    assert (ids_in(oldest), oldest.older) == (ids[:5], False)
    nothing = await transcripts.before(progression, oldest.start, limit=10)
    assert (ids_in(nothing), nothing.older) == ([], False)


async def test_a_window_that_fits_exactly_knows_that_nothing_is_older(db: StateDB, transcripts: MessageStore) -> None:
    ids = await messages_of(db, 5)
    window = await transcripts.tail(await a_progression(db, ids), limit=5)
    assert (ids_in(window), window.older) == (ids, False)


async def test_new_messages_follow_the_end_of_the_last_window(db: StateDB, transcripts: MessageStore) -> None:
    progression = await a_progression(db)
    window = await transcripts.tail(progression, limit=10)
    assert (window.start, window.end, window.older, window.messages) == (0, 0, False, ())
    seen: list[str] = []
    for count in (1, 2, 12):
        new = await messages_of(db, count)
        await append(db, progression, *new)
        while (window := await transcripts.after(progression, window.end, limit=5)).messages:
            seen += ids_in(window)
        assert seen[-count:] == new
    again = await transcripts.after(progression, window.end, limit=5)
    assert (ids_in(again), again.end) == ([], window.end)
    assert ids_in(await transcripts.tail(progression, limit=100)) == seen


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
@pytest.mark.parametrize("odd_one", [None, 0, 7, 17])
@pytest.mark.parametrize("count", [1, 2, 20, 100])
async def test_places_keep_their_meaning_when_the_list_is_written_anew(
    db: StateDB, transcripts: MessageStore, separators: tuple[str, str], odd_one: int | None, count: int
) -> None:
    ids = await messages_of(db, count + 2)
    if odd_one is not None and odd_one < count:
        ids[odd_one] = await a_message(db, id="an id of another length")
    progression = await store_list(db, json.dumps(ids[:count], separators=separators))
    window = await transcripts.tail(progression, limit=5)
    earlier = await transcripts.before(progression, window.start, limit=5)
    middle = await transcripts.after(progression, earlier.end, limit=3)
    assert ids_in(middle) == ids[:count][-5:][:3]
    await append(db, progression, *ids[count:])
    assert ids_in(await transcripts.after(progression, window.end, limit=10)) == ids[count:]
    assert ids_in(await transcripts.before(progression, window.start, limit=5)) == ids[:count][-10:-5] == ids_in(earlier)
    place = max(0, count - 5) + len(middle.messages)
    assert ids_in(await transcripts.after(progression, middle.end, limit=2)) == ids[place : place + 2]


async def test_fifty_thousand_ids(db: StateDB, transcripts: MessageStore) -> None:
    ids = [str(uuid.UUID(int=number)) for number in range(50_000)]
    rows = [{"id": name, "created_at": NOW, "role": "user", "lion_class": 2, "content": {"instruction": "x"}} for name in ids]
    await put(db, messages_table, rows)
    progression = await a_progression(db, ids)
    window = await transcripts.tail(progression, limit=200)
    assert ids_in(window) == ids[-200:]
    found = ids_in(window)
    while window.older:
        window = await transcripts.before(progression, window.start, limit=1000)
        found = [*ids_in(window), *found]
    assert found == ids


# --- ids that name nothing --------------------------------------------------------------------------------------------


@pytest.mark.sqlite_only("a server writes the list anew for each question in any case")
@pytest.mark.parametrize("limit", [1, 3, 8])
async def test_a_list_of_uuids_with_blanks_is_never_written_anew(
    db: StateDB, transcripts: MessageStore, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(id_pieces, "PIECE", None)
    monkeypatch.setattr(id_pieces, "LAST_PIECE", None)
    ids = await messages_of(db, 40)
    progression = await store_list(db, json.dumps(ids))
    window = await transcripts.tail(progression, limit=limit)
    found = ids_in(window)
    while window.older:
        window = await transcripts.before(progression, window.start, limit=limit)
        found = [*ids_in(window), *found]
    assert found == ids
    followed = list[str]()
    while (window := await transcripts.after(progression, window.end, limit=limit)).messages:
        followed += ids_in(window)
    assert followed == ids[-len(followed) :]
    assert len(followed) >= 40 - limit


async def test_dangling_ids_are_skipped_and_the_window_is_full_all_the_same(db: StateDB, transcripts: MessageStore) -> None:
    ids = await messages_of(db, 12)
    gone = [str(uuid.uuid4()) for _ in range(40)]
    progression = await a_progression(db, [*ids[:6], *gone, *ids[6:8], gone[0], *ids[8:]])
    window = await transcripts.tail(progression, limit=8)
    assert (ids_in(window), window.older) == (ids[4:], True)
    assert ids_in(await transcripts.before(progression, window.start, limit=8)) == ids[:4]
    forward = await transcripts.after(progression, 0, limit=8)
    assert ids_in(forward) == ids[:8]
    assert ids_in(await transcripts.after(progression, forward.end, limit=8)) == ids[8:]


async def test_a_list_that_names_nothing_is_an_empty_window(db: StateDB, transcripts: MessageStore) -> None:
    progression = await a_progression(db, [str(uuid.uuid4()) for _ in range(300)])
    window = await transcripts.tail(progression, limit=10)
    assert (window.messages, window.older, window.start) == ((), False, 1)
    assert (await transcripts.after(progression, window.end, limit=10)).messages == ()


async def test_looking_past_dangling_ids_ends_and_can_be_taken_up_again(
    db: StateDB, transcripts: MessageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LOOKS", 2)
    ids = await messages_of(db, 2)
    progression = await a_progression(db, [*ids, *(str(uuid.uuid4()) for _ in range(50))])
    window = await transcripts.tail(progression, limit=5)
    assert (window.messages, window.older) == ((), True)
    for _ in range(10):
        if not window.older or window.messages:
            break
        window = await transcripts.before(progression, window.start, limit=5)
    assert ids_in(window) == ids


async def test_an_id_that_stands_twice_is_shown_once(db: StateDB, transcripts: MessageStore) -> None:
    one, two = await messages_of(db, 2)
    assert ids_in(await transcripts.tail(await a_progression(db, [one, two, one]), limit=10)) == [one, two]


# --- lists that are none ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "{}",
        '{"a": "b"}',
        '{"a": ["b"]}',
        "[1, 2, 3]",
        '["a", 5]',
        '["a", null, "b"]',
        '[["a"], "b"]',
        '["a", "b"',
        '["a" "b"]',
        'x["a"]',
        '"a"]',
        "not json",
    ],
)
async def test_what_is_no_list_of_ids_is_an_empty_window(db: StateDB, transcripts: MessageStore, text: str) -> None:
    await _finds_nothing(db, transcripts, text)


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
async def test_what_is_no_text_is_an_empty_window(db: StateDB, transcripts: MessageStore) -> None:
    await _finds_nothing(db, transcripts, b"\xff\xfe")


async def _finds_nothing(db: StateDB, transcripts: MessageStore, text: str | bytes) -> None:
    await a_message(db, id="a")
    await a_message(db, id="b")
    progression = await store_list(db, text)
    for window in (await transcripts.tail(progression, limit=5), await transcripts.after(progression, 0, limit=5)):
        assert window.messages == (), window
        assert not window.older
    await transcripts.before(progression, 5, limit=5)


async def test_an_unknown_list_is_an_empty_window(db: StateDB, transcripts: MessageStore) -> None:
    assert (await transcripts.tail("none", limit=5)).messages == ()
    assert (await transcripts.before("none", 9, limit=5)).messages == ()
    assert (await transcripts.after("none", 0, limit=5)).messages == ()


async def test_a_replaced_list_is_followed_from_its_end(db: StateDB, transcripts: MessageStore) -> None:
    ids = await messages_of(db, 6)
    progression = await a_progression(db, ids[:4])
    window = await transcripts.tail(progression, limit=10)
    await run_sql(db, "UPDATE progressions SET collection = :text WHERE id = :id", text=json.dumps(["other"]), id=progression)
    resumed = await transcripts.after(progression, window.end, limit=10)
    assert (resumed.messages, resumed.end < window.end) == ((), True)
    await append(db, progression, ids[5])
    assert ids_in(await transcripts.after(progression, resumed.end, limit=10)) == [ids[5]]


async def test_ids_of_any_form(db: StateDB, transcripts: MessageStore) -> None:
    ids = ['say "hi"', "back\\slash", "ünï, code", "]", "[", ",", "\\", '"', "x" * 500, "", "日本", "tab\t", '", "']
    for name in ids:
        await a_message(db, id=name)
    for text in (json.dumps(ids), json.dumps(ids, ensure_ascii=False, separators=(",", ":")), json.dumps(ids, indent=2)):
        progression = await store_list(db, text)
        for limit in (1, 2, 3, 50):
            window, found = await transcripts.tail(progression, limit=limit), list[str]()
            for _ in range(len(ids)):
                found = [*ids_in(window), *found]
                if not window.older:
                    break
                window = await transcripts.before(progression, window.start, limit=limit)
            assert found == ids, (text, limit)
            window, found = await transcripts.after(progression, 0, limit=limit), list[str]()
            while window.messages:
                found += ids_in(window)
                window = await transcripts.after(progression, window.end, limit=limit)
            assert found == ids, (text, limit)


# --- messages ---------------------------------------------------------------------------------------------------------


async def test_the_five_classes_and_an_unknown_one(db: StateDB, transcripts: MessageStore) -> None:
    ids = [await a_message(db, kind, content={"n": kind}) for kind in (SYSTEM, INSTRUCTION, 3, REQUEST, RESPONSE, 0)]
    window = await transcripts.tail(await a_progression(db, ids), limit=10)
    classes = [message.lion_class.rsplit(".", 1)[-1] for message in window.messages]
    assert classes == ["System", "Instruction", "AssistantResponse", "ActionRequest", "ActionResponse", "__unknown__"]
    assert [message.content for message in window.messages] == [{"n": kind} for kind in (1, 2, 3, 4, 5, 0)]
    first = window.messages[0]
    assert (first.role, first.sender, first.recipient, first.created_at) == ("system", "reviewer", "user", NOW)
    assert first.size_bytes == len('{"n": 1}')


async def test_bodies_are_there_up_to_a_megabyte(db: StateDB, transcripts: MessageStore) -> None:
    sizes = {"small": 10, "long": 200_000, "limit": MEGABYTE - len('{"t": ""}'), "over": MEGABYTE, "huge": 5 * MEGABYTE}
    for name, size in sizes.items():
        await a_message(db, id=name, content={"t": "x" * size})
    window = await transcripts.tail(await a_progression(db, list(sizes)), limit=10)
    assert ids_in(window) == list(sizes)
    read = {message.message_id: len(str((message.content or {}).get("t", ""))) for message in window.messages}
    assert read == {**sizes, "over": 0, "huge": 0}
    assert {message.message_id: message.size_bytes for message in window.messages}["huge"] > 5 * MEGABYTE


async def test_a_window_of_long_bodies_is_shorter(
    db: StateDB, transcripts: MessageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WINDOW_BYTES", 250_000)
    ids = [await a_message(db, content={"t": "x" * 100_000}) for _ in range(5)]
    progression = await a_progression(db, ids)
    window = await transcripts.tail(progression, limit=5)
    assert (ids_in(window), window.older) == (ids[3:], True)
    assert ids_in(await transcripts.before(progression, window.start, limit=5)) == ids[1:3]
    forward = await transcripts.after(progression, 0, limit=5)
    assert ids_in(forward) == ids[:2]
    assert ids_in(await transcripts.after(progression, forward.end, limit=1)) == ids[2:3]


@pytest.mark.parametrize("stored", ["[1]", "7", '"text"'])
async def test_a_body_that_is_no_object_is_a_message_without_one(db: StateDB, transcripts: MessageStore, stored: str) -> None:
    bad, good = await messages_of(db, 2)
    await run_sql(db, "UPDATE messages SET content = :stored WHERE id = :id", stored=stored, id=bad)
    window = await transcripts.tail(await a_progression(db, [bad, good]), limit=5)
    assert [(message.message_id, message.content is None) for message in window.messages] == [(bad, True), (good, False)]


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
@pytest.mark.parametrize("stored", ["{broken", '{"a": NaN}', b"\xff"])
async def test_a_body_that_is_no_json_is_a_message_without_one(
    db: StateDB, transcripts: MessageStore, stored: str | bytes
) -> None:
    bad, good = await messages_of(db, 2)
    await run_sql(db, "UPDATE messages SET content = :stored, created_at = 'never' WHERE id = :id", stored=stored, id=bad)
    window = await transcripts.tail(await a_progression(db, [bad, good]), limit=5)
    assert [(message.message_id, message.content is None) for message in window.messages] == [(bad, True), (good, False)]
    assert window.messages[0].created_at is None


async def test_messages_by_id_come_in_the_order_asked_for(db: StateDB, transcripts: MessageStore) -> None:
    ids = await messages_of(db, 3)
    window = await transcripts.by_ids([ids[2], "none", ids[0]])
    assert (ids_in(window), window.start, window.end, window.older) == ([ids[2], ids[0]], 0, 0, False)
    assert (await transcripts.by_ids([])).messages == ()


async def test_while_there_is_no_store_windows_are_empty(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    transcripts = MessageStore(db)
    assert (await transcripts.tail("p", limit=5)).messages == ()
    assert (await transcripts.by_ids(["m"])).messages == ()


# --- pieces of a list -------------------------------------------------------------------------------------------------

IDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=12)
LAYOUTS = st.sampled_from(
    [{"separators": (",", ":")}, {"separators": (", ", ": ")}, {"indent": 1}, {"ensure_ascii": False, "separators": (",", ":")}]
)


@given(ids=IDS, layout=LAYOUTS, cut=st.integers(0, 400))
def test_a_piece_from_the_end_holds_the_last_ids_of_the_list(ids: list[str], layout: dict[str, object], cut: int) -> None:
    whole = json.dumps(ids, **layout).encode()  # type: ignore[arg-type]
    offset = min(cut, len(whole))
    found = ids_before(whole[offset:], offset, last=True) if offset < len(whole) else []
    assert [place.text for place in found] == ids[len(ids) - len(found) :]
    assert all(json.loads(whole[place.start : place.end]) == place.text for place in found)
    if offset == 0:
        assert len(found) == len(ids)


@given(ids=IDS, layout=LAYOUTS, first=st.integers(0, 12), length=st.integers(1, 200))
def test_a_piece_from_between_two_ids_holds_the_next_ones(
    ids: list[str], layout: dict[str, object], first: int, length: int
) -> None:
    whole = json.dumps(ids, **layout).encode()  # type: ignore[arg-type]
    places = ids_after(whole, 0, last=True)
    assert [place.text for place in places] == ids
    first = min(first, len(ids))
    begin = places[first - 1].end if first else 0
    piece = whole[begin : begin + length]
    found = ids_after(piece, begin, last=begin + len(piece) >= len(whole))
    assert found == places[first : first + len(found)]


@given(st.binary(max_size=60), st.integers(0, 5), st.booleans())
def test_no_bytes_raise_anything_else(piece: bytes, offset: int, last: bool) -> None:
    for cut in (ids_before, ids_after):
        try:
            found = cut(piece, offset, last=last)
        except NotAnIdList:
            continue
        assert all(isinstance(place, IdAt) and place.start < place.end for place in found)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(dangling=st.lists(st.booleans(), max_size=40), limit=st.integers(1, 9))
async def test_every_message_stands_in_exactly_one_window(
    db: StateDB, transcripts: MessageStore, dangling: list[bool], limit: int
) -> None:
    real = await messages_of(db, dangling.count(False)) if dangling.count(False) else []
    pool = iter(real)
    ids = [str(uuid.uuid4()) if gone else next(pool) for gone in dangling]
    progression = await a_progression(db, ids)
    window = await transcripts.tail(progression, limit=limit)
    backwards = ids_in(window)
    while window.older:
        window = await transcripts.before(progression, window.start, limit=limit)
        backwards = [*ids_in(window), *backwards]
    assert backwards == real
    window = await transcripts.after(progression, 0, limit=limit)
    forwards = ids_in(window)
    while window.messages:
        window = await transcripts.after(progression, window.end, limit=limit)
        forwards += ids_in(window)
    assert forwards == real
