"""One poll against a server: what is asked, what its answers mean, and what GitHub, or something else, may answer instead."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.polls.github import GitHub, Polled
from studio_tui.scheduler.polls.http import Http, Patience
from studio_tui.scheduler.polls.tokens import Tokens
from tests.fakes.clock import NOW, SteeredClock
from tests.fakes.github import FakeGitHub, a_pull, answer, broken_off, github, silent
from tests.scheduler.conftest import a_schedule

MERGED = {"event": "pr_merged"}


@pytest.fixture
def server() -> Iterator[FakeGitHub]:
    with github() as fake:
        yield fake


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"GITHUB_TOKEN": "secret", "PATH": str(tmp_path)}


@pytest.fixture
def gh(tmp_path: Path) -> Callable[[str], None]:
    """``gh("token")``: the program is there and prints this, unless a variable names another."""

    def make(token: str) -> None:
        path = tmp_path / "gh"
        path.write_text(f'#!/bin/sh\nexec 2>&1\n/bin/echo "$@" >> {tmp_path}/asked\n/bin/echo "${{GITHUB_TOKEN:-{token}}}"\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    return make


@pytest.fixture
async def polls(server: FakeGitHub, environment: dict[str, str]) -> AsyncIterator[GitHub]:
    http = Http(server.base, Patience(silence=0.4, altogether=1.0))
    made = GitHub(server.base, http=http, tokens=Tokens(lambda: environment, server.base), clock=SteeredClock())
    yield made
    await made.close()


def a_poll(**columns: Any) -> ScheduleRecord:
    fields = {"trigger_type": "github_poll", "github_repo": "acme/web", "github_filter": MERGED, "interval_sec": None}
    return a_schedule(**{**fields, **columns})


def numbers(polled: Polled) -> list[object]:
    return [event.fields["pr_number"] for event in polled.found]


async def test_what_is_asked_and_with_what(server: FakeGitHub, polls: GitHub) -> None:
    await polls.poll(a_poll(github_filter={"event": "pr_merged", "base": "main", "state": "open"}))
    await polls.poll(a_poll(github_filter=None))
    first, second = server.asked
    assert first.path == "/repos/acme/web/pulls"
    asked = {"state": "closed", "sort": "updated", "direction": "desc", "per_page": "100"}
    assert first.query == {**asked, "base": "main"}
    assert second.query == {**asked, "state": "open"}
    assert first.headers["Authorization"] == "Bearer secret"
    assert first.headers["Accept"] == "application/vnd.github+json"
    assert first.headers["X-GitHub-Api-Version"] == "2022-11-28"


async def test_merges_come_oldest_first_with_their_bookmarks(server: FakeGitHub, polls: GitHub) -> None:
    server.pulls = [
        a_pull(9, "2026-03-10T10:00:02Z", merged="2026-03-10T10:00:00Z"),
        a_pull(7, "2026-03-10T10:00:01Z", merged="2026-03-10T10:00:01Z"),
        a_pull(3, "2026-03-10T10:00:03Z", merged="2026-03-10T10:00:01Z"),
        a_pull(5, "2026-03-10T10:00:04Z", merged=False, state="closed"),
    ]
    polled = await polls.poll(a_poll())
    assert polled.status == "ok"
    assert [event.cursor for event in polled.found] == [
        "2026-03-10T10:00:00Z#0000000009",
        "2026-03-10T10:00:01Z#0000000003",
        "2026-03-10T10:00:01Z#0000000007",
    ]
    assert polled.found[0].fields["pr_merged_at"] == "2026-03-10T10:00:00Z"
    again = await polls.poll(a_poll(github_cursor="2026-03-10T10:00:01Z#0000000003"))
    assert numbers(again) == [7], "same second, told apart by number"
    assert numbers(await polls.poll(a_poll(github_cursor="2026-03-10T10:00:01Z"))) == [], "a bare instant takes its second"


async def test_nothing_changed_costs_a_304_but_only_after_an_answer_that_left_nothing(server: FakeGitHub, polls: GitHub) -> None:
    server.pulls = [a_pull(1)]
    assert numbers(await polls.poll(a_poll())) == [1]
    assert numbers(await polls.poll(a_poll())) == [1], "it waits for a slot, say: it must be listed again"
    behind = a_poll(github_cursor="2026-03-10T10:00:00Z#0000000001")
    assert numbers(await polls.poll(behind)) == []
    assert await polls.poll(behind) == Polled("ok")
    assert ["If-None-Match" in asked.headers for asked in server.asked] == [False, False, False, True]
    server.pulls.append(a_pull(2, "2026-03-10T10:00:09Z"))
    assert numbers(await polls.poll(behind)) == [2]
    assert numbers(await polls.poll(a_poll(github_cursor="2026-01-01T00:00:00Z"))) == [1, 2], "set back by hand"


async def test_pages_are_turned_until_the_bookmark(server: FakeGitHub, polls: GitHub) -> None:
    server.pulls = [a_pull(n, f"2026-03-10T10:{n // 60:02d}:{n % 60:02d}Z") for n in range(250)]
    assert len((await polls.poll(a_poll())).found) == 250
    assert len(server.asked) == 3
    server.asked.clear()
    polled = await polls.poll(a_poll(github_cursor="2026-03-10T10:02:00Z#0000000120"))
    assert numbers(polled) == list(range(121, 250))
    assert len(server.asked) == 2


async def test_after_five_pages_what_may_have_an_unseen_one_before_it_is_held_back(server: FakeGitHub, polls: GitHub) -> None:
    old, new = "2026-03-01T00:00:00Z", "2026-03-10T10:00:00Z"
    server.pulls = [a_pull(n, new, merged=old if n < 3 else new) for n in range(600)]
    polled = await polls.poll(a_poll())
    assert not polled.complete
    assert numbers(polled) == [0, 1, 2], "merged before everything that was not read was changed"
    assert len(server.asked) == 5


@pytest.mark.parametrize("fails", [answer(500), answer(200, b"<html>"), answer(401), broken_off(b"[" + b" " * 99)])
async def test_a_page_that_fails_holds_back_and_is_said(server: FakeGitHub, polls: GitHub, fails: Any) -> None:
    server.pulls = [a_pull(n, f"2026-03-10T10:{n // 60:02d}:{n % 60:02d}Z") for n in range(150)]
    server.pulls.append(a_pull(900, "2026-03-10T23:00:00Z", merged="2026-03-01T00:00:00Z"))
    server.next.extend([None, fails])
    polled = await polls.poll(a_poll())
    assert polled.status == ("auth_error" if (polled.trouble or "").endswith("(401)") else "error")
    assert (polled.complete, numbers(polled)) == (False, [900])
    assert (polled.trouble or "").startswith("page 2: ")
    server.next.extend([None, fails])
    by_change = await polls.poll(a_poll(github_filter={"state": "closed"}, github_cursor="2026-03-10T09:00:00Z"))
    assert numbers(by_change) == [], "what stands on the missing page comes first"


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (answer(500, b"oops"), "GitHub answers with an error (500)"),
        (answer(502, b"<html>", Content_Type="text/html"), "GitHub answers with an error (502)"),
        (answer(200, b"<html>hello"), "GitHub cannot be understood: the answer is no JSON"),
        (answer(200, b"[" * 100_000), "GitHub cannot be understood: the answer is no JSON"),
        (answer(200, b'{"message": "hi"}'), "GitHub cannot be understood: the answer is no list of pull requests"),
        (answer(200, b"[1]"), "GitHub cannot be understood: the answer holds something that is no pull request"),
        (answer(200, b'[{"number": 1, "updated_at": "yesterday"}]'), "GitHub cannot be understood: the answer holds something"),
        (broken_off(b'[{"number": 1'), "GitHub broke off in the middle of its answer"),
        (answer(403, b'{"message": "Resource not accessible"}'), "GitHub does not let the token read acme/web (403)"),
        (answer(404), "GitHub knows no acme/web, or the token may not see it (404)"),
        (answer(422), "GitHub refuses the question (422)"),
        (answer(302, Location="https://elsewhere.example/x"), "sends the poll on to another host (elsewhere.example)"),
        (answer(200, b"[]", Content_Encoding="gzip"), "GitHub could not be asked"),
    ],
)
async def test_every_other_answer_in_words(server: FakeGitHub, polls: GitHub, says: Any, words: str) -> None:
    server.next.append(says)
    polled = await polls.poll(a_poll())
    assert (polled.status, polled.found) == ("error", ())
    assert words in (polled.trouble or "")
    assert "secret" not in (polled.trouble or "")
    assert (await polls.poll(a_poll())).status == "ok", "and the next poll is as good as ever"


async def test_silence_ends_by_itself(server: FakeGitHub, polls: GitHub) -> None:
    over = threading.Event()
    server.next.append(silent(over))
    assert (await polls.poll(a_poll())).trouble == "GitHub gave no whole answer in time"
    over.set()


async def test_nobody_there(server: FakeGitHub, environment: dict[str, str]) -> None:
    gone = "http://127.0.0.1:1"
    polls = GitHub(gone, http=Http(gone, Patience(0.4, 1.0)), tokens=Tokens(lambda: environment, gone), clock=SteeredClock())
    assert (await polls.poll(a_poll())).trouble == "GitHub cannot be reached"


async def test_a_repository_that_was_renamed_is_followed_on_the_same_host(server: FakeGitHub, polls: GitHub) -> None:
    server.pulls = [a_pull(1)]
    server.next.append(answer(301, Location="/repositories/77/pulls"))
    assert numbers(await polls.poll(a_poll())) == [1]
    assert (server.asked[1].path, server.asked[1].query["state"]) == ("/repositories/77/pulls", "closed")
    server.next.extend([answer(301, Location="/again")] * 9)
    assert (await polls.poll(a_poll())).trouble == "GitHub sends the poll round in circles"


async def test_a_next_page_on_another_host_is_not_asked(server: FakeGitHub, polls: GitHub) -> None:
    page = json.dumps([a_pull(n, "2026-03-10T10:00:00Z") for n in range(100)]).encode()
    server.next.append(answer(200, page, Link='<https://elsewhere.example/p?page=2>; rel="next"'))
    polled = await polls.poll(a_poll())
    assert (polled.status, polled.complete) == ("error", False)
    assert "another host" in (polled.trouble or "")


async def test_a_token_that_expired_is_replaced_by_that_of_gh(server: FakeGitHub, polls: GitHub, gh: Any, tmp_path: Path) -> None:
    server.tokens, server.pulls = {"fresh"}, [a_pull(1)]
    assert (await polls.poll(a_poll())).status == "auth_error", "there is no gh"
    gh("fresh")
    assert numbers(await polls.poll(a_poll())) == [1]
    assert [asked.headers["Authorization"] for asked in server.asked] == ["Bearer secret", "Bearer secret", "Bearer fresh"]
    await polls.poll(a_poll())
    assert server.asked[-1].headers["Authorization"] == "Bearer fresh", "what was accepted is shown first"
    assert (tmp_path / "asked").read_text().splitlines() == ["auth token --hostname 127.0.0.1"]


async def test_a_token_that_may_not_read_is_dropped(server: FakeGitHub, polls: GitHub, environment: dict[str, str]) -> None:
    await polls.poll(a_poll())
    environment["GITHUB_TOKEN"] = "other"
    server.tokens.add("other")
    server.next.append(answer(403, b"no"))
    await polls.poll(a_poll())
    await polls.poll(a_poll())
    shown = [asked.headers["Authorization"] for asked in server.asked]
    assert shown == ["Bearer secret", "Bearer secret", "Bearer other"]


async def test_without_a_token_nothing_is_asked(server: FakeGitHub, polls: GitHub, environment: dict[str, str]) -> None:
    for unusable in ("", "two words", "line\nbreak", "ü"):
        environment["GITHUB_TOKEN"] = unusable
        assert (await polls.poll(a_poll())).trouble == "there is no GitHub token: set GITHUB_TOKEN, or log in with gh"
    assert server.asked == []


@pytest.mark.parametrize(
    ("says", "rests"),
    [
        (answer(200, b"[]", X_RateLimit_Remaining="0", X_RateLimit_Reset=str(int(NOW) + 90)), 91),
        (answer(403, b"no", X_RateLimit_Remaining="0", X_RateLimit_Reset=str(int(NOW) + 90)), 91),
        (answer(429, b"slow down", Retry_After="30"), 31),
        (answer(429, b"slow down"), 61),
        (answer(403, b'{"message": "You have exceeded a secondary rate limit."}'), 61),
        (answer(503, b"later", Retry_After=formatdate(NOW + 20, usegmt=True)), 21),
        (answer(429, b"slow down", Retry_After="999999"), 3_600),
        (answer(429, b"slow down", Retry_After="soon"), 61),
    ],
)
async def test_github_is_left_alone_as_long_as_it_asks(server: FakeGitHub, polls: GitHub, says: Any, rests: float) -> None:
    clock = polls._clock
    assert isinstance(clock, SteeredClock)
    server.next.append(says)
    assert (await polls.poll(a_poll())).not_before == NOW + rests
    other = await polls.poll(a_poll(schedule_id="other"))
    assert (other.status, other.not_before, len(server.asked)) == ("error", NOW + rests, 1), "the limit is everybody's"
    clock.advance(rests)
    assert (await polls.poll(a_poll())).not_before is None


@pytest.mark.parametrize("says", [answer(403, b"forbidden"), answer(500), answer(200, b"[]", X_RateLimit_Remaining="3")])
async def test_what_asks_for_no_rest_gets_none(server: FakeGitHub, polls: GitHub, says: Any) -> None:
    server.next.append(says)
    assert (await polls.poll(a_poll())).not_before is None
