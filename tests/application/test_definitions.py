"""Definitions: one library over two kinds of storage, and how files stand to their history."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from studio_tui.application.definitions import DefinitionService
from studio_tui.application.errors import NotFound, StateUnavailable, ValidationFailure
from studio_tui.domain.definitions import FileDefinition, VersionRecord, WorkflowRecord
from tests.fakes.ports import NOW, MemoryDefinitionFiles, MemoryHistory


class World:
    """A definition service on twins."""

    def __init__(self) -> None:
        self.files, self.history = MemoryDefinitionFiles(), MemoryHistory()
        self.service = DefinitionService(files=self.files, history=self.history)

    def file(self, name: str, content: str | None, kind: str = "agent", *, hashed: bool = True, error: str | None = None) -> None:
        raw = (content or "").encode()
        self.files.files.append(
            FileDefinition(
                kind=kind,
                name=name,
                relative_path=f"{kind}s/{name}.md",
                size_bytes=len(raw),
                modified_at=NOW,
                content=content,
                sha256=hashlib.sha256(raw).hexdigest() if hashed else None,
                error=error,
            )
        )

    def version(self, name: str, number: int, content: str, kind: str = "agent") -> None:
        self.history.records.append(
            VersionRecord(f"{kind}-{name}-{number}", kind, name, number, NOW + number, f"v{number}", len(content), content)
        )


@pytest.fixture
def world() -> World:
    return World()


async def test_the_library_names_each_kind_of_storage_and_how_files_stand_to_their_history(world: World) -> None:
    world.file("same", "a")
    world.version("same", 1, "old")
    world.version("same", 2, "a")
    world.file("edited", "b")
    world.version("edited", 1, "a")
    world.file("fresh", "c", "skill")
    world.file("broken", None, "playbook", error="not UTF-8 at byte 7")
    world.version("broken", 4, "x", "playbook")
    world.version("lost", 3, "d", "playbook")
    world.history.workflows = [WorkflowRecord("w1", "flow", "walks", {"version": 1}, NOW, NOW)]
    rows = await world.service.list_definitions()
    assert [(row.kind, row.name, row.version, row.drift) for row in rows] == [
        ("agent", "edited", 1, "edited"),
        ("agent", "same", 2, "same"),
        ("playbook", "broken", 4, "unreadable"),
        ("playbook", "lost", 3, "file_missing"),
        ("skill", "fresh", None, "no_snapshot"),
        ("workflow", "flow", None, "no_history"),
    ]
    persistence = {row.name: row.persistence for row in rows}
    assert persistence["same"] == "file; versions in the store"
    assert persistence["flow"] == "row in the store; no versions"
    problems = {row.name: row.problem for row in rows if row.problem}
    assert problems == {"broken": "not UTF-8 at byte 7", "lost": "the file is gone; its versions are kept"}


async def test_a_list_reads_only_the_files_that_differ(world: World) -> None:
    for n in range(30):
        world.file(f"agent-{n}", f"text {n}")
        world.version(f"agent-{n}", 1, f"text {n}" if n else "other")
    await world.service.list_definitions()
    assert world.files.asked == {"list_definitions": 1, "read_definition": 1}
    assert world.history.asked == {"latest_versions": 1, "list_workflows": 1}


@pytest.mark.parametrize(
    ("on_disk", "stored", "drift"),
    [
        ("---\r\na: 1\r\n", "---\na: 1\n", "same"),
        ("a\rb", "a\nb", "same"),
        ("\ufeffa", "a", "same"),
        ("a\n", "a", "edited"),
        ("a \n", "a\n", "edited"),
        ("", "", "same"),
        ("ä", "ä", "same"),
    ],
)
async def test_line_ends_are_no_edits(world: World, on_disk: str, stored: str, drift: str) -> None:
    world.file("x", on_disk)
    world.version("x", 1, stored)
    assert (await world.service.list_definitions())[0].drift == drift
    assert (await world.service.get_definition("agent", "x")).drift == drift


async def test_broken_front_matter_leaves_the_text_readable_and_compared(world: World) -> None:
    world.file("x", "---\nbad: [\n---\n", error="line 2: the end is missing")
    world.file("y", "---\nbad: [\n---\n", error="line 2: the end is missing")
    world.version("x", 1, "---\nbad: [\n---\n")
    rows = await world.service.list_definitions()
    assert [(row.name, row.drift, row.problem) for row in rows] == [
        ("x", "same", "line 2: the end is missing"),
        ("y", "no_snapshot", "line 2: the end is missing"),
    ]
    detail = await world.service.get_definition("agent", "x")
    assert (detail.drift, detail.content) == ("same", "---\nbad: [\n---\n")


async def test_remarks_are_passed_on(world: World) -> None:
    world.file("x", "a")
    world.files.files = [replace(world.files.files[0], notes=("is a link out of the root",))]
    assert (await world.service.list_definitions())[0].notes == ("is a link out of the root",)


async def test_files_without_a_hash_are_compared_by_their_text(world: World) -> None:
    world.file("x", "a", hashed=False)
    world.version("x", 1, "a")
    assert (await world.service.list_definitions())[0].drift == "same"


async def test_a_file_that_vanishes_while_the_list_is_made_is_missing(world: World) -> None:
    world.file("x", "a")
    world.version("x", 1, "b")
    listed = await world.files.list_definitions()

    async def gone() -> tuple[FileDefinition, ...]:
        world.files.files.clear()
        return listed

    world.files.list_definitions = gone  # type: ignore[method-assign]
    assert (await world.service.list_definitions())[0].drift == "file_missing"


async def test_a_detail_has_text_language_and_versions_newest_first(world: World) -> None:
    world.file("x", "now")
    world.version("x", 1, "first")
    world.version("x", 2, "second!")
    detail = await world.service.get_definition("agent", "x")
    assert (detail.content, detail.language, detail.drift, detail.version) == ("now", "markdown", "edited", 2)
    assert [(version.version, version.message, version.content_length) for version in detail.versions] == [
        (2, "v2", 7),
        (1, "v1", 5),
    ]
    assert detail.history_available


@pytest.mark.parametrize(("kind", "language"), [("agent", "markdown"), ("skill", "markdown"), ("playbook", "yaml")])
async def test_each_kind_has_its_language(world: World, kind: str, language: str) -> None:
    world.file("x", "a", kind)
    assert (await world.service.get_definition(kind, "x")).language == language


async def test_a_workflow_is_shown_as_readable_json(world: World) -> None:
    spec = {"version": 1, "nodes": [{"id": "ä"}]}
    world.history.workflows = [WorkflowRecord("w1", "flow", None, spec, NOW, NOW)]
    detail = await world.service.get_definition("workflow", "flow")
    assert detail.language == "json"
    assert detail.content
    assert json.loads(detail.content) == spec
    assert "ä" in detail.content
    assert "\n  " in detail.content
    assert (detail.versions, detail.drift) == ((), "no_history")


async def test_a_workflow_that_cannot_be_read_says_so(world: World) -> None:
    world.history.workflows = [WorkflowRecord("w1", "flow", None, None, NOW, NOW, error="spec_json is not JSON")]
    detail = await world.service.get_definition("workflow", "flow")
    assert (detail.content, detail.problem) == (None, "spec_json is not JSON")


async def test_an_unreadable_file_keeps_its_versions_in_reach(world: World) -> None:
    world.file("x", None, error="not UTF-8 at byte 7")
    world.version("x", 1, "a")
    detail = await world.service.get_definition("agent", "x")
    assert (detail.content, detail.drift, detail.problem) == (None, "unreadable", "not UTF-8 at byte 7")
    assert len(detail.versions) == 1


async def test_a_definition_whose_file_is_gone_is_still_found(world: World) -> None:
    world.version("x", 1, "a")
    detail = await world.service.get_definition("agent", "x")
    assert (detail.content, detail.drift, detail.version) == (None, "file_missing", 1)


async def test_history_that_cannot_be_read_is_not_no_history(world: World) -> None:
    world.file("x", "a")
    world.file("y", None, error="unreadable")
    world.history.trouble = StateUnavailable("busy", retryable=True)
    assert [(row.name, row.drift, row.version) for row in await world.service.list_definitions()] == [
        ("x", "unknown", None),
        ("y", "unreadable", None),
    ]
    detail = await world.service.get_definition("agent", "x")
    assert (detail.history_available, detail.drift, detail.versions, detail.content) == (False, "unknown", (), "a")
    world.history.trouble = None
    fresh = await world.service.get_definition("agent", "x")
    assert (fresh.history_available, fresh.drift) == (True, "no_snapshot")


async def test_a_version_is_read_whole(world: World) -> None:
    world.version("x", 1, "first")
    assert await world.service.get_version("agent", "x", 1) == "first"
    with pytest.raises(NotFound):
        await world.service.get_version("agent", "x", 2)
    with pytest.raises(ValidationFailure):
        await world.service.get_version("workflow", "x", 1)


@pytest.mark.parametrize("kind", ["agent", "playbook", "skill", "workflow"])
async def test_an_unknown_definition_is_not_found(world: World, kind: str) -> None:
    with pytest.raises(NotFound) as caught:
        await world.service.get_definition(kind, "nobody")
    assert caught.value.resource == kind


async def test_an_unknown_kind_is_refused_with_those_that_are(world: World) -> None:
    with pytest.raises(ValidationFailure) as caught:
        await world.service.get_definition("team", "x")
    assert "agent, playbook, skill, workflow" in str(caught.value)
