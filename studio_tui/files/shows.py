"""Reads shows from disk (lionagi 0.36, facts 9): a folder for each show, a folder in it for each play. Never writes there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from studio_tui.domain.shows import PlayRecord, ShowRecord
from studio_tui.files.cache import StampCache
from studio_tui.files.contained import Entry, printable, scan
from studio_tui.files.frontmatter import unify
from studio_tui.files.plays import read_play, refusal_of
from studio_tui.files.roots import Roots
from studio_tui.files.show_documents import JsonFile, ShowDocuments
from studio_tui.files.show_facts import ShowHead, show_head, show_status, text

PLAY_DOCUMENTS: Final = ("_intent.md", "_prompt.md")
DOCUMENTS_BYTES: Final = 8 * 1024 * 1024
"""All documents of one show together; those beyond are named, not read."""

_ABORT_BYTES: Final = 4 * 1024


class ShowFiles:
    """Implements :class:`~studio_tui.application.ports.ShowFilesPort`. All work is done in threads."""

    def __init__(self, roots: Roots) -> None:
        self._root = roots.shows
        self._cache: StampCache[JsonFile] = StampCache()

    async def list_shows(self) -> tuple[ShowRecord, ...]:
        """Every show by topic with its plays, without documents. A root that cannot be listed is a record with ``error``."""
        return await asyncio.to_thread(self._list)

    async def read_show(self, topic: str) -> ShowRecord | None:
        """One show with plays and documents; ``None`` when no folder has this name. Documents go by their path in the show."""
        return await asyncio.to_thread(self._read, topic)

    def _list(self) -> tuple[ShowRecord, ...]:
        real = os.path.realpath(self._root)
        listing = scan(self._root, real, _is_show)
        documents = ShowDocuments(real, self._cache)
        shows = tuple(_Show(folder, documents, real).record() for folder in listing.entries)
        self._cache.keep_only(documents.seen)
        if listing.problem is None:
            return shows
        return (*shows, ShowRecord(topic=self._root.name, error=f"the folder of shows: {listing.problem}"))

    def _read(self, topic: str) -> ShowRecord | None:
        # The topic is compared with what is there, never joined to a path.
        real = os.path.realpath(self._root)
        folders = scan(self._root, real, _is_show).entries
        folder = next((folder for folder in folders if printable(folder.name) == topic), None)
        if folder is None:
            return None
        show = _Show(folder, ShowDocuments(real, self._cache), real)
        return replace(show.record(), documents=show.texts())


def _is_show(name: str, is_folder: bool) -> bool:
    return is_folder


class _Show:
    """One show folder as it is now."""

    def __init__(self, folder: Entry, documents: ShowDocuments, root: str) -> None:
        self._folder = folder
        self._documents = documents
        self._refusal = refusal_of(folder)
        listing = scan(folder.path, root, _is_show) if self._refusal is None else None
        self._problem = listing.problem if listing is not None else self._refusal
        self._plays = listing.entries if listing is not None else ()

    def record(self) -> ShowRecord:
        """The show without documents."""
        topic = printable(self._folder.name)
        if self._refusal is not None:
            return ShowRecord(topic=topic, show_dir=printable(self._folder.path), error=self._refusal)
        plays = tuple(read_play(folder, self._documents, order) for order, folder in enumerate(self._plays))
        head, head_problem = self._head()
        final = self._documents.json(self._path("_final_verdict.json"))
        aborted = os.path.lexists(self._path("_ABORT"))
        passed = final.value.get("show_passed") is True
        status = show_status([play.status for play in plays], aborted=aborted, passed=passed)
        problems = (
            _named("", self._problem),
            _named("_show.md: ", head_problem),
            _named("_final_verdict.json: ", final.problem),
        )
        return ShowRecord(
            topic=topic,
            status=status,
            goal=head.goal,
            repo=head.repo,
            base_branch=head.base_branch,
            integration_branch=head.integration_branch,
            show_dir=printable(self._folder.path),
            updated_at=self._updated_at(plays, final),
            reason_code=_show_reason(status, passed=passed),
            reason_summary=self._abort_words() if aborted else None,
            plays=plays,
            error="; ".join(problem for problem in problems if problem) or None,
        )

    def texts(self) -> Mapping[str, str]:
        """``_show.md`` and the documents of each play, by their path in the show. Those that cannot be read say why."""
        found: dict[str, str] = {}
        left = DOCUMENTS_BYTES
        if self._refusal is not None:
            return found
        plays = [folder.name for folder in self._plays if refusal_of(folder) is None]
        for name in ("_show.md", *(f"{play}/{document}" for play in plays for document in PLAY_DOCUMENTS)):
            if left <= 0:
                found[printable(name)] = f"[not read: the documents of this show exceed {DOCUMENTS_BYTES >> 20} MiB]\n"
                continue
            content, problem = self._documents.text(self._path(name))
            if content is not None:
                found[printable(name)] = content
                left -= len(content)
            elif problem is not None:
                found[printable(name)] = f"[not read: {problem}]\n"
        return found

    def _head(self) -> tuple[ShowHead, str | None]:
        content, problem = self._documents.text(self._path("_show.md"))
        return show_head(unify(content)) if content is not None else ShowHead(), problem

    def _abort_words(self) -> str | None:
        content, _ = self._documents.text(self._path("_ABORT"), _ABORT_BYTES)
        return text((content or "").strip().split("\n", 1)[0].strip())

    def _updated_at(self, plays: Sequence[PlayRecord], final: JsonFile) -> float | None:
        own = self._folder.status.st_mtime if self._folder.status is not None else None
        times = (own, final.modified_at, *(play.updated_at for play in plays))
        return max((moment for moment in times if moment is not None), default=None)

    def _path(self, name: str) -> str:
        return f"{self._folder.path}/{name}"


def _named(what: str, problem: str | None) -> str | None:
    return None if problem is None else what + problem


def _show_reason(status: str, *, passed: bool) -> str | None:
    if status == "completed":
        return "show.completed.final_gate" if passed else "show.completed.all_plays_merged"
    return "show.aborted.operator" if status == "aborted" else None
