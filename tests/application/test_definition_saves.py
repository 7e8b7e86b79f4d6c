"""Saving definitions: history first, file second, and whatever ends a save in between is on record."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio_tui.application.errors import (
    Conflict,
    NotFound,
    PermissionDenied,
    ReconciliationRequired,
    StateUnavailable,
    ValidationFailure,
)
from studio_tui.application.models.definitions import (
    ReconcileDefinition,
    Reconciliation,
    RollbackDefinition,
    SaveDefinition,
    SaveResult,
    SnapshotDefinition,
)
from studio_tui.application.ports.definition_writes import VersionDraft
from studio_tui.application.reconciling import UNDER_WAY
from studio_tui.files import definition_writes
from studio_tui.files.definition_writes import DefinitionWrites
from studio_tui.files.roots import Roots
from studio_tui.sidecar import reconciliations
from studio_tui.state.stores.definition_writes import DefinitionVersionStore
from tests.application.covering import covers
from tests.application.home import OpenHome


async def save(home: OpenHome, content: str = "one", name: str = "helper", **fields: Any) -> SaveResult:
    command = {"kind": "agent", "name": name, "content": content, **fields}
    return await home.studio.definition_saves.save_definition(SaveDefinition.model_validate(command))


def file_of(home: OpenHome, name: str = "helper") -> Path:
    return home.folder / "agents" / f"{name}.md"


async def versions(home: OpenHome, kind: str = "agent", name: str = "helper") -> list[str]:
    rows = await home.db.fetch_all("SELECT kind, name, content FROM definitions ORDER BY version")
    return [row["content"] for row in rows if (row["kind"], row["name"]) == (kind, name)]


def records(home: OpenHome) -> list[str]:
    return sorted(os.listdir(home.folder / "studio-tui" / "reconciliations"))


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No definition file can be written any more."""
    _refuse_files(monkeypatch, OSError(errno.ENOSPC, "No space left on device"))


def _refuse_files(patch: pytest.MonkeyPatch, error: OSError) -> None:
    real = os.replace

    def refuse(source: str, target: Path) -> None:
        if "agents" in Path(target).parts:
            raise error
        real(source, target)

    patch.setattr(definition_writes.os, "replace", refuse)


async def half_saved(home: OpenHome, content: str = "two", **fields: Any) -> Reconciliation:
    """A save whose file was not written, as the list shows it."""
    with pytest.raises(ReconciliationRequired) as caught:
        await save(home, content, **fields)
    (shown,) = await home.studio.definition_saves.list_reconciliations()
    assert shown.reconciliation_id == caught.value.reconciliation_id
    return shown


class TestSaving:
    async def test_a_version_and_then_the_file_and_no_record_stays(self, home: OpenHome) -> None:
        assert (await save(home, "one", expected_version=0)).version == 1
        result = await save(home, "two", expected_version=1, message="better")
        assert (result.version, result.saved_at, result.reconciliation_id) == (2, home.clock.at, None)
        assert file_of(home).read_text() == "two"
        assert await versions(home) == ["one", "two"]
        detail = await home.studio.definitions.get_definition("agent", "helper")
        assert (detail.drift, detail.version, detail.versions[0].message) == ("same", 2, "better")
        assert records(home) == []

    @pytest.mark.parametrize(
        ("kind", "place"),
        [("agent", "agents/x.md"), ("playbook", "playbooks/x.playbook.yaml"), ("skill", "skills/x/SKILL.md")],
    )
    async def test_a_new_one_is_made_where_the_lookup_finds_it(self, home: OpenHome, kind: str, place: str) -> None:
        await save(home, "text", "x", kind=kind)
        assert (home.folder / place).read_text() == "text"
        paths = await home.db.fetch_all("SELECT path FROM definitions")
        assert [row["path"] for row in paths] == [place]

    async def test_every_byte_the_mode_and_a_link_are_kept(self, home: OpenHome, tmp_path: Path) -> None:
        checkout = tmp_path / "checkout"
        checkout.mkdir()
        (checkout / "helper.md").write_text("old")
        (checkout / "helper.md").chmod(0o640)
        file_of(home).parent.mkdir()
        file_of(home).symlink_to(checkout / "helper.md")
        text = "\ufeff---\r\nb: 1 # why\r\na:   'x'\r\n---\r\nno end"
        await save(home, text)
        assert file_of(home).is_symlink()
        assert (checkout / "helper.md").read_bytes() == text.encode()
        assert stat.S_IMODE((checkout / "helper.md").stat().st_mode) == 0o640
        assert (await home.studio.definitions.get_definition("agent", "helper")).content == text
        assert await versions(home) == [text]

    @covers("definition_saves.save_definition", "stale")
    async def test_a_version_that_was_not_seen_is_a_conflict_with_both_sides_and_nothing_is_written(self, home: OpenHome) -> None:
        await save(home, "one")
        with pytest.raises(Conflict) as caught:
            await save(home, "two", expected_version=0)
        assert (caught.value.expected, caught.value.actual) == ("0", "1")
        assert (file_of(home).read_text(), await versions(home), records(home)) == ("one", ["one"], [])

    @covers("definition_saves.save_definition", "hash_mismatch")
    async def test_a_file_that_another_editor_changed_is_a_conflict(self, home: OpenHome) -> None:
        await save(home, "one")
        seen = hashlib.sha256(b"one").hexdigest()
        file_of(home).write_text("by hand")
        with pytest.raises(Conflict) as caught:
            await save(home, "two", expected_sha256=seen)
        assert (caught.value.expected, caught.value.actual) == (seen, hashlib.sha256(b"by hand").hexdigest())
        assert (file_of(home).read_text(), await versions(home)) == ("by hand", ["one"])
        file_of(home).unlink()
        with pytest.raises(Conflict):
            await save(home, "two", expected_sha256=seen)

    @covers("definition_saves.save_definition", "containment")
    @covers("definition_saves.rollback_definition", "containment")
    @covers("definition_saves.snapshot_definition", "containment")
    @pytest.mark.parametrize("name", ["..", "../escape", "/etc/passwd", "a/b", "a\\b", "a\0b", "*", "~", " ", "x" * 300])
    async def test_a_name_that_leaves_the_root_is_refused_before_anything_is_written(self, home: OpenHome, name: str) -> None:
        saves = home.studio.definition_saves
        versions_of = DefinitionVersionStore(home.db, home.clock)
        if "\0" not in name and name.strip():  # a history that somebody else wrote may hold such a name
            await versions_of.append_version(VersionDraft("agent", name, "x", "old"), expected_version=None)
        before = await home.db.fetch_all("SELECT id FROM definitions")
        with pytest.raises(ValidationFailure):
            await save(home, "x", name)
        with pytest.raises((ValidationFailure, NotFound)):
            await saves.rollback_definition(RollbackDefinition(kind="agent", name=name, version=1))
        with pytest.raises((ValidationFailure, NotFound)):
            await saves.snapshot_definition(SnapshotDefinition(kind="agent", name=name))
        assert await home.db.fetch_all("SELECT id FROM definitions") == before
        assert not (home.folder / "escape.md").exists()

    @pytest.mark.parametrize("mark", ["lion_system: true", "lion_system:  True # ours", "lion_system: 'yes'"])
    async def test_an_agent_of_the_system_is_kept_as_it_is_but_may_be_snapshotted(self, home: OpenHome, mark: str) -> None:
        file_of(home).parent.mkdir()
        file_of(home).write_text(f"---\nmodel: x\n{mark}\n---\nhello\n")
        with pytest.raises(PermissionDenied, match="lion_system"):
            await save(home, "changed")
        assert await versions(home) == []
        added = await home.studio.definition_saves.snapshot_definition(SnapshotDefinition(kind="agent", name="helper"))
        assert added.version == 1

    @pytest.mark.parametrize(
        "text", ["---\nlion_system: false\n---\n", "lion_system: true\n", "---\nx: lion_system: true\n---\n"]
    )
    async def test_other_agents_are_not_taken_for_it(self, home: OpenHome, text: str) -> None:
        file_of(home).parent.mkdir()
        file_of(home).write_text(text)
        assert (await save(home, "changed")).version == 1

    async def test_what_cannot_be_text_or_is_too_long_is_refused(self, home: OpenHome) -> None:
        with pytest.raises(ValidationFailure):
            await save(home, "a\0b")
        with pytest.raises(ValidationFailure, match="8 MiB"):
            await save(home, "x" * (8 * 1024 * 1024 + 1))
        assert await versions(home) == []

    async def test_in_a_read_only_store_nothing_is_written_anywhere(self, home: OpenHome) -> None:
        looking = OpenHome(home.folder, read_only=True)
        await looking.open()
        try:
            with pytest.raises(PermissionDenied):
                await save(looking)
        finally:
            await looking.close()
        assert sorted(path.name for path in home.folder.iterdir() if not path.name.startswith("state.db")) == []

    async def test_where_there_is_no_store_nothing_is_made(self, tmp_path: Path) -> None:
        nowhere = OpenHome(tmp_path / "none")
        await nowhere.open()
        try:
            with pytest.raises(StateUnavailable):
                await save(nowhere)
        finally:
            await nowhere.close()
        assert not (tmp_path / "none").exists()


class TestHalfSaved:
    @covers("definition_saves.save_definition", "file_after_commit")
    async def test_a_disk_that_refuses_the_file_leaves_version_old_file_and_a_record(
        self, home: OpenHome, full_disk: None
    ) -> None:
        file_of(home).parent.mkdir()
        file_of(home).write_text("one")
        shown = await half_saved(home)
        assert (shown.kind, shown.name, shown.version, shown.file) == ("agent", "helper", 1, "differs")
        assert "no space left on device" in (shown.reason or "")
        assert str(home.folder) not in (shown.reason or "")
        assert (file_of(home).read_text(), await versions(home)) == ("one", ["two"])
        assert os.listdir(file_of(home).parent) == ["helper.md"]

    async def test_a_save_that_a_crash_cut_short_is_shown_once_it_cannot_be_under_way(
        self, home: OpenHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Killed(BaseException):
            """As when the process ends: nothing of ours runs any more."""

        def die(*_args: object) -> None:
            raise Killed

        monkeypatch.setattr(definition_writes, "_replace", die)
        with pytest.raises(Killed):
            await save(home)
        saves = home.studio.definition_saves
        assert await saves.list_reconciliations() == ()
        home.clock.at += UNDER_WAY
        (shown,) = await saves.list_reconciliations()
        assert (shown.version, shown.file, shown.reason) == (1, "missing", None)

    async def test_a_record_whose_version_never_came_goes_by_itself(
        self, home: OpenHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def cut(*_args: object, **_named: object) -> None:
            raise StateUnavailable("the connection was cut", retryable=True)

        monkeypatch.setattr(DefinitionVersionStore, "append_version", cut)
        with pytest.raises(StateUnavailable):
            await save(home)
        assert len(records(home)) == 1
        home.clock.at += UNDER_WAY
        assert await home.studio.definition_saves.list_reconciliations() == ()
        assert records(home) == []

    async def test_where_no_record_can_be_kept_nothing_is_saved(self, home: OpenHome, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_args: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(reconciliations.os, "fsync", refuse)
        with pytest.raises(StateUnavailable, match="no space left on device"):
            await save(home)
        assert (await versions(home), file_of(home).exists(), records(home)) == ([], False, [])

    async def test_a_torn_or_foreign_record_is_left_alone(self, home: OpenHome, full_disk: None) -> None:
        shown = await half_saved(home)
        folder = home.folder / "studio-tui" / "reconciliations"
        for name, text in (("ab.json", "{"), ("cd.json", '{"kind": 1}'), ("../x.json", "{}"), ("README", "notes")):
            (folder / name).write_text(text)
        assert await home.studio.definition_saves.list_reconciliations() == (shown,)


class TestReconciling:
    async def settle(self, home: OpenHome, shown: Reconciliation, choice: str) -> int:
        command = {"reconciliation_id": shown.reconciliation_id, "choice": choice}
        result = await home.studio.definition_saves.reconcile(ReconcileDefinition.model_validate(command))
        assert await home.studio.definition_saves.list_reconciliations() == ()
        assert records(home) == []
        return result.version

    async def test_the_version_is_written_to_the_file(
        self, home: OpenHome, full_disk: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shown = await half_saved(home)
        monkeypatch.undo()
        assert await self.settle(home, shown, "write_file") == 1
        assert file_of(home).read_text() == "two"

    async def test_the_file_is_recorded_as_a_newer_version(self, home: OpenHome, full_disk: None) -> None:
        file_of(home).parent.mkdir()
        file_of(home).write_text("as it lies")
        shown = await half_saved(home)
        assert await self.settle(home, shown, "record_file") == 2
        assert await versions(home) == ["two", "as it lies"]
        assert file_of(home).read_text() == "as it lies"

    async def test_both_are_left_as_they_are(self, home: OpenHome, full_disk: None) -> None:
        shown = await half_saved(home)
        assert await self.settle(home, shown, "leave") == 1
        assert (await versions(home), file_of(home).exists()) == (["two"], False)

    @covers("definition_saves.reconcile", "file_after_commit")
    async def test_a_disk_that_still_refuses_keeps_the_record(self, home: OpenHome, full_disk: None) -> None:
        shown = await half_saved(home)
        with pytest.raises(ReconciliationRequired) as caught:
            await self.settle(home, shown, "write_file")
        assert caught.value.reconciliation_id == shown.reconciliation_id
        assert await home.studio.definition_saves.list_reconciliations() == (shown,)

    @covers("definition_saves.reconcile", "missing")
    async def test_one_that_a_later_save_settled_is_not_there_any_more(
        self, home: OpenHome, full_disk: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shown = await half_saved(home)
        monkeypatch.undo()
        await save(home, "three")
        with pytest.raises(NotFound):
            await self.settle(home, shown, "write_file")
        assert file_of(home).read_text() == "three"
        assert await home.studio.definition_saves.list_reconciliations() == ()

    @covers("definition_saves.reconcile", "stale")
    async def test_somebody_who_saves_at_the_same_moment_is_a_conflict(
        self, home: OpenHome, full_disk: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file_of(home).parent.mkdir()
        file_of(home).write_text("as it lies")
        shown = await half_saved(home)
        newest = DefinitionVersionStore.latest_version

        async def and_then_another(store: DefinitionVersionStore, kind: str, name: str) -> Any:
            found = await newest(store, kind, name)
            await home.db.write(_another)
            return found

        monkeypatch.setattr(DefinitionVersionStore, "latest_version", and_then_another)
        with pytest.raises(Conflict):
            await self.settle(home, shown, "record_file")
        assert await versions(home) == ["two", "theirs"]


async def _another(connection: Any) -> None:
    await connection.exec_driver_sql(
        "INSERT INTO definitions (id, kind, name, path, content, version, created_at)"
        " VALUES ('other', 'agent', 'helper', 'agents/helper.md', 'theirs', 2, 0)"
    )


class TestOlderVersions:
    @covers("definition_saves.rollback_definition", "stale")
    async def test_going_back_adds_a_version(self, home: OpenHome) -> None:
        await save(home, "one")
        await save(home, "two")
        back = RollbackDefinition(kind="agent", name="helper", version=1, expected_version=2)
        assert (await home.studio.definition_saves.rollback_definition(back)).version == 3
        assert (await versions(home), file_of(home).read_text()) == (["one", "two", "one"], "one")
        detail = await home.studio.definitions.get_definition("agent", "helper")
        assert detail.versions[0].message == "rollback to v1"
        with pytest.raises(Conflict):
            await home.studio.definition_saves.rollback_definition(back)

    @covers("definition_saves.rollback_definition", "file_after_commit")
    async def test_going_back_is_a_save_and_may_be_half_done_like_one(
        self, home: OpenHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await save(home, "one")
        await save(home, "two")
        _refuse_files(monkeypatch, OSError(errno.EROFS, "Read-only file system"))
        with pytest.raises(ReconciliationRequired):
            await home.studio.definition_saves.rollback_definition(RollbackDefinition(kind="agent", name="helper", version=1))
        assert file_of(home).read_text() == "two"

    async def test_a_snapshot_is_taken_of_what_differs_only(self, home: OpenHome) -> None:
        await save(home, "one")
        snapshot = SnapshotDefinition(kind="agent", name="helper")
        assert not (await home.studio.definition_saves.snapshot_definition(snapshot)).added
        file_of(home).write_text("by hand")
        taken = await home.studio.definition_saves.snapshot_definition(snapshot)
        assert (taken.added, taken.version) == (True, 2)
        file_of(home).write_bytes(b"\xff")
        with pytest.raises(Conflict, match="not UTF-8"):
            await home.studio.definition_saves.snapshot_definition(snapshot)


async def test_of_writers_at_the_same_moment_one_saves_and_the_others_see_a_conflict(home: OpenHome) -> None:
    other = OpenHome(home.folder)
    await other.open()
    try:
        saves = [save(where, f"text {number}", expected_version=0) for number in range(3) for where in (home, other)]
        results = await asyncio.gather(*saves, return_exceptions=True)
    finally:
        await other.close()
    assert sorted(type(result).__name__ for result in results) == ["Conflict"] * 5 + ["SaveResult"]
    assert [file_of(home).read_text()] == await versions(home)
    assert records(home) == []


_PARTS = st.sampled_from(["a", "..", ".", "/", "out", "link", "helper", "\\", "*"]) | st.text(max_size=5)


@settings(max_examples=150, deadline=None)
@given(parts=st.lists(_PARTS, min_size=1, max_size=4), kind=st.sampled_from(["agent", "playbook", "skill"]))
async def test_whatever_a_name_says_it_is_written_in_its_root_or_not_at_all(parts: list[str], kind: str) -> None:
    with TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        for name in ("agents", "playbooks", "skills"):
            (home / name).mkdir(parents=True)
        writes = DefinitionWrites(Roots.of(home, home / "shows"), home=home)
        with suppress(ValidationFailure, PermissionDenied, StateUnavailable):
            await writes.write_definition(kind, "".join(parts), "x")
        made = [path for path in Path(folder).rglob("*") if path.is_file()]
        assert [path for path in made if home / f"{kind}s" not in path.parents] == []
        assert len(made) <= 1
