"""One poll of one repository: the question, its pages, and what GitHub may answer instead (lionagi 0.36, mended).

Only one kind of question is asked: the pull requests of a repository, newest changes first.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from studio_tui.application.ports import Clock
from studio_tui.domain import github_events as events
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.polls.http import Http, NoAnswer, Reply
from studio_tui.scheduler.polls.limits import rest_wanted
from studio_tui.scheduler.polls.tokens import Tokens

log = logging.getLogger(__name__)

MOST_PAGES: Final = 5
NO_TOKEN: Final = "there is no GitHub token: set GITHUB_TOKEN, or log in with gh"

_NEXT: Final = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next\b')
_HEADERS: Final = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": "studio-tui",
}

Status = Literal["ok", "auth_error", "error"]


@dataclass(frozen=True, slots=True)
class Polled:
    """What a poll found: ``trouble`` in words where it is not ``ok``; ``not_before`` (epoch seconds) when GitHub asked for rest.

    ``complete`` tells that nothing new can stand behind the pages that were read.
    """

    status: Status
    found: tuple[events.Event, ...] = ()
    complete: bool = True
    trouble: str | None = None
    not_before: float | None = None


class _Refused(Exception):
    """GitHub answered, and not with a page."""

    def __init__(self, status: Status, words: str) -> None:
        self.status: Status = status
        super().__init__(words)


class GitHub:
    """Polls through one token and rests for all schedules at once. ``base`` is the address of the API."""

    def __init__(self, base: str, *, http: Http, tokens: Tokens, clock: Clock) -> None:
        self._base, self._http, self._tokens, self._clock = base.rstrip("/"), http, tokens, clock
        self._rests_until = 0.0  # on the steady clock: nobody who sets the other one makes us rest for days
        self._tags: dict[str, tuple[object, str]] = {}

    async def poll(self, schedule: ScheduleRecord) -> Polled:
        """Ask once. Whatever goes wrong is in the answer."""
        if self._rest() > 0:
            return self._resting(Polled("error", trouble="GitHub's limit of questions is reached"))
        try:
            return self._resting(await self._scan(schedule))
        except _Refused as refused:
            return self._resting(Polled(refused.status, trouble=str(refused)))
        except NoAnswer as failure:
            return Polled("error", trouble=f"GitHub {failure}")

    async def close(self) -> None:
        """Let the connections go."""
        await self._http.close()

    async def _scan(self, schedule: ScheduleRecord) -> Polled:
        repository, filters, cursor = schedule.github_repo or "", schedule.github_filter, schedule.github_cursor
        query = events.query_of(filters)
        asked = (repository, tuple(query.items()), cursor)
        reply = await self._first(f"{self._base}/repos/{repository}/pulls", query, self._tag_of(schedule, asked))
        if reply.status == 304:
            return Polled("ok")
        page = _page(reply, repository)
        pulls, turned, polled = list(page), 1, Polled("ok")
        while events.needs_next_page(page, cursor, filters) and (following := _next_page(reply)):
            if turned >= MOST_PAGES:
                polled = replace(polled, complete=False)
                break
            try:
                reply = await self._ask(following, await self._tokens.current(), {}, None)
                page = _page(reply, repository)
            except (_Refused, NoAnswer) as failure:
                status: Status = failure.status if isinstance(failure, _Refused) else "error"
                self._tokens.keep(None)
                polled = Polled(status, complete=False, trouble=f"page {turned + 1}: {failure}")
                break
            pulls += page
            turned += 1
        if polled.status != "ok" and not events.is_merged_mode(filters):
            return polled  # the bookmark must not pass what stands on the page that is missing
        found = events.new_events(pulls, repository=repository, filters=filters, cursor=cursor, complete=polled.complete)
        self._remember_tag(schedule, asked, reply if turned == 1 and polled.complete and not found else None)
        return replace(polled, found=found)

    async def _first(self, url: str, query: Mapping[str, str], tag: str | None) -> Reply:
        """The first page; a token that is refused is replaced by a fresh one of ``gh`` once."""
        token = await self._tokens.current()
        if token is None:
            raise _Refused("error", NO_TOKEN)
        reply = await self._ask(url, token, query, tag)
        if reply.status == 401:
            other = await self._tokens.of_gh()
            if other is not None and other != token:
                token, reply = other, await self._ask(url, other, query, tag)
        self._tokens.keep(None if reply.status in (401, 403) else token)
        return reply

    async def _ask(self, url: str, token: str | None, query: Mapping[str, str], tag: str | None) -> Reply:
        if not self._http.is_here(url):
            raise NoAnswer("names a next page on another host, which is refused")
        headers = {**_HEADERS, "Authorization": f"Bearer {token}", **({"If-None-Match": tag} if tag else {})}
        reply = await self._http.get(url, headers, query)
        seconds = rest_wanted(reply.status, reply.headers, reply.body, self._clock.now())
        if seconds is not None:
            log.warning("GitHub's limit of questions is reached; it is asked again in %d s", seconds)
            self._rests_until = max(self._rests_until, self._clock.monotonic() + seconds)
        return reply

    def _rest(self) -> float:
        """Seconds in which nothing must be asked; 0 or less when there are none."""
        return self._rests_until - self._clock.monotonic()

    def _resting(self, polled: Polled) -> Polled:
        seconds = self._rest()
        return replace(polled, not_before=self._clock.now() + seconds) if seconds > 0 else polled

    # A tag says that nothing changed since an answer. It is shown only after an answer that left nothing to fire, and only for
    # the same question from the same bookmark: events that wait for a slot are listed again by a full answer. The peer would
    # read it from a column that its schedules do not have; so it is kept in memory, and a start asks in full once.

    def _tag_of(self, schedule: ScheduleRecord, asked: object) -> str | None:
        known = self._tags.get(schedule.schedule_id)
        return known[1] if known is not None and known[0] == asked else None

    def _remember_tag(self, schedule: ScheduleRecord, asked: object, reply: Reply | None) -> None:
        tag = reply.headers.get("etag") if reply is not None else None
        if tag:
            self._tags[schedule.schedule_id] = (asked, tag)
        else:
            self._tags.pop(schedule.schedule_id, None)


def _page(reply: Reply, repository: str) -> list[Mapping[str, Any]]:
    """The pull requests of a reply. Raises :class:`_Refused` for every other answer."""
    if reply.status == 401:
        raise _Refused("auth_error", "GitHub does not accept the token (401)")
    if reply.status != 200:
        raise _Refused("error", _words(reply.status, repository))
    try:
        return events.checked_page(json.loads(reply.body))
    except events.Unreadable as fault:
        raise _Refused("error", f"GitHub cannot be understood: {fault}") from None
    except (ValueError, RecursionError):
        raise _Refused("error", "GitHub cannot be understood: the answer is no JSON") from None


def _words(status: int, repository: str) -> str:
    match status:
        case 403:
            return f"GitHub does not let the token read {repository} (403)"
        case 404:
            return f"GitHub knows no {repository}, or the token may not see it (404)"
        case 429:
            return "GitHub's limit of questions is reached (429)"
    return f"GitHub answers with an error ({status})" if status >= 500 else f"GitHub refuses the question ({status})"


def _next_page(reply: Reply) -> str | None:
    found = _NEXT.search(reply.headers.get("link", ""))
    return found[1] if found else None
