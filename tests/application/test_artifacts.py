"""Artifacts: rows, and looks into files that are contained, bounded and verified."""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, StudioApplicationError
from studio_tui.application.models.artifacts import ArtifactListQuery, ArtifactQuery, ArtifactResult
from studio_tui.application.ports.artifacts import ArtifactDraft
from studio_tui.files import artifacts as adapter
from studio_tui.files.artifacts import ArtifactFiles
from studio_tui.state.stores.artifacts import ArtifactStore
from tests.application.covering import covers
from tests.application.home import OpenHome
from tests.builders import a_run, run_sql

SECRET = "outside of every root"


async def put(home: OpenHome, path: str | None, data: bytes | None = None, **content: Any) -> str:
    """The id of an artifact of run ``r1``, whose file is made when there are bytes for it."""
    folder = home.folder / "runs" / "r1" / "artifacts"
    if not folder.exists():
        folder.mkdir(parents=True)
        await a_run(home.db, id="r1", artifacts_path=str(folder))
    if data is not None and path is not None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    draft = ArtifactDraft("report", f"n{path}", content, session_id="r1", file_path=path)
    return (await ArtifactStore(home.db, home.clock).put_artifact(draft)).artifact_id


async def look(home: OpenHome, artifact_id: str, **fields: Any) -> ArtifactResult:
    return await home.studio.artifacts.resolve_artifact(
        ArtifactQuery.model_validate({"artifact_id": artifact_id, "include_preview": True, **fields})
    )


def folder_of(home: OpenHome) -> Path:
    return home.folder / "runs" / "r1" / "artifacts"


async def test_a_row_is_told_without_its_file_being_touched(home: OpenHome) -> None:
    artifact_id = await put(home, "gone.md", None, verdict="fine")
    shown = await look(home, artifact_id, include_preview=False)
    assert (shown.content, shown.display_path, shown.preview) == ({"verdict": "fine"}, "gone.md", None)
    listed = (await home.studio.artifacts.list_artifacts(ArtifactListQuery(run_id="r1"))).items
    assert [(one.id, one.run_id, one.display_path) for one in listed] == [(artifact_id, "r1", "gone.md")]


async def test_a_small_file_comes_whole_with_its_hash_and_kind(home: OpenHome) -> None:
    shown = await look(home, await put(home, "a/report.md", b"# fine"))
    assert (shown.preview, shown.preview_truncated, shown.media_type) == (b"# fine", False, "text/markdown")
    assert shown.sha256 == hashlib.sha256(b"# fine").hexdigest()
    assert shown.model_dump(mode="json")["preview"] == base64.b64encode(b"# fine").decode()


async def test_an_artifact_without_a_file_has_no_preview(home: OpenHome) -> None:
    assert (await look(home, await put(home, None, text="inline"))).preview is None


@pytest.mark.parametrize(
    ("data", "limit", "preview"),
    [
        ("aäb".encode(), 2, b"a"),
        ("aäb".encode(), 3, "aä".encode()),
        ("€€".encode(), 4, "€".encode()),
        ("😀".encode(), 3, b""),
        (b"\xff\xfe\xc3", 2, b"\xff\xfe"),
        (b"abc\xc3\xa4", 5, b"abc\xc3\xa4"),
    ],
)
async def test_text_is_cut_between_two_letters_and_bytes_anywhere(
    home: OpenHome, data: bytes, limit: int, preview: bytes
) -> None:
    shown = await look(home, await put(home, "x", data), preview_limit_bytes=limit)
    assert (shown.preview, shown.preview_truncated) == (preview, len(data) > limit)


async def test_a_preview_has_256_kib_unless_said_otherwise_and_never_more_than_1_mib(home: OpenHome) -> None:
    artifact_id = await put(home, "big", b"x" * 1_100_000)
    assert [len((await look(home, artifact_id, **said)).preview or b"") for said in ({}, {"preview_limit_bytes": 1_048_576})] == [
        262_144,
        1_048_576,
    ]
    with pytest.raises(ValueError, match="1048576"):
        ArtifactQuery(artifact_id=artifact_id, preview_limit_bytes=1_048_577)


@covers("artifacts.resolve_artifact", "hash_mismatch")
async def test_no_byte_is_shown_of_a_file_that_is_not_the_one_recorded(home: OpenHome) -> None:
    recorded = hashlib.sha256(b"as it was").hexdigest()
    artifact_id = await put(home, "x.txt", b"as it was", sha256=recorded, media_type="text/x-log")
    shown = await look(home, artifact_id, preview_limit_bytes=2)
    assert (shown.preview, shown.sha256, shown.media_type) == (b"as", recorded, "text/x-log")
    (folder_of(home) / "x.txt").write_bytes(b"as it is now")
    with pytest.raises(Conflict) as caught:
        await look(home, artifact_id)
    assert (caught.value.expected, caught.value.actual) == (recorded, hashlib.sha256(b"as it is now").hexdigest())


async def test_a_file_of_2_gb_costs_a_preview_and_is_not_shown_where_it_would_have_to_be_verified(home: OpenHome) -> None:
    plain, hashed = await put(home, "huge", b""), await put(home, "huger", b"", sha256="0" * 64)
    for name in ("huge", "huger"):
        os.truncate(folder_of(home) / name, 2 * 1024**3)
    shown = await look(home, plain)
    assert (len(shown.preview or b""), shown.preview_truncated, shown.sha256) == (262_144, True, None)
    with pytest.raises(PermissionDenied, match=r"2\.0 GiB, which is too much to be verified"):
        await look(home, hashed)


async def test_a_file_that_grows_while_it_is_read_is_a_conflict(home: OpenHome, monkeypatch: pytest.MonkeyPatch) -> None:
    artifact_id = await put(home, "log", b"line\n")
    real = os.read

    def growing(descriptor: int, count: int) -> bytes:
        with (folder_of(home) / "log").open("ab") as handle:
            handle.write(b"more\n")
        return real(descriptor, count)

    monkeypatch.setattr(adapter.os, "read", growing)
    with pytest.raises(Conflict, match="changed while it was read"):
        await look(home, artifact_id, preview_limit_bytes=100)


@covers("artifacts.resolve_artifact", "missing")
async def test_what_is_gone_is_not_found_be_it_row_folder_or_file(home: OpenHome) -> None:
    artifact_id = await put(home, "x", b"x")
    (folder_of(home) / "x").unlink()
    with pytest.raises(NotFound) as caught:
        await look(home, artifact_id)
    assert caught.value.resource == "artifact file"
    assert str(home.folder) not in str(caught.value)
    await run_sql(home.db, "UPDATE sessions SET artifacts_path = NULL")
    with pytest.raises(NotFound):
        await look(home, artifact_id)
    await run_sql(home.db, "DELETE FROM artifacts")
    with pytest.raises(NotFound) as gone:
        await look(home, artifact_id)
    assert gone.value.resource == "artifact"


class TestContainment:
    @covers("artifacts.resolve_artifact", "containment")
    @pytest.mark.parametrize("path", ["../secret", "a/../../secret", "/etc/passwd", "a/../x", "..", "c:\\x", "a\\..\\b"])
    async def test_a_stored_path_that_leads_out_is_refused(self, home: OpenHome, path: str) -> None:
        (home.folder / "runs" / "secret").parent.mkdir(parents=True)
        (home.folder / "runs" / "secret").write_text(SECRET)
        artifact_id = await put(home, "fine", b"x")
        await run_sql(home.db, "UPDATE artifacts SET file_path = :path", path=path)
        with pytest.raises(PermissionDenied) as caught:
            await look(home, artifact_id)
        assert str(home.folder) not in str(caught.value)

    @pytest.mark.parametrize("folder", ["/etc", "{home}", "{home}/runs/../agents", "{home}/runsx/r1", "runs/r1", ""])
    async def test_the_folder_of_a_run_is_believed_under_the_approved_root_only(self, home: OpenHome, folder: str) -> None:
        artifact_id = await put(home, "passwd", b"x")
        (home.folder / "agents").mkdir()
        (home.folder / "agents" / "passwd").write_text(SECRET)
        (home.folder / "passwd").write_text(SECRET)
        await run_sql(home.db, "UPDATE sessions SET artifacts_path = :folder", folder=folder.format(home=home.folder))
        with pytest.raises(PermissionDenied):
            await look(home, artifact_id)

    @pytest.mark.parametrize("place", ["file", "folder", "root"])
    async def test_no_link_is_followed_wherever_on_the_way_it_is(self, home: OpenHome, tmp_path: Path, place: str) -> None:
        outside = tmp_path / "outside"
        (outside / "r1" / "artifacts" / "a").mkdir(parents=True)
        (outside / "x").write_text(SECRET)
        (outside / "r1" / "artifacts" / "a" / "x").write_text(SECRET)
        artifact_id = await put(home, "a/x", b"inside")
        target = {"file": folder_of(home) / "a" / "x", "folder": folder_of(home) / "a", "root": home.folder / "runs" / "r1"}[
            place
        ]
        target.rename(tmp_path / "away")
        target.symlink_to({"file": outside / "x", "folder": outside, "root": outside / "r1"}[place])
        with pytest.raises(PermissionDenied, match="a link is on the way"):
            await look(home, artifact_id)

    async def test_pipes_sockets_and_folders_are_not_opened(self, home: OpenHome, monkeypatch: pytest.MonkeyPatch) -> None:
        pipe, sock, folder = await put(home, "pipe"), await put(home, "s"), await put(home, "d")
        os.mkfifo(folder_of(home) / "pipe")
        (folder_of(home) / "d").mkdir()
        monkeypatch.chdir(folder_of(home))  # a socket's address is short
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("s")
            for artifact_id in (pipe, sock, folder):
                with pytest.raises(PermissionDenied):
                    await look(home, artifact_id)

    async def test_a_link_that_comes_and_goes_while_it_is_looked_up_leaks_nothing(self, home: OpenHome, tmp_path: Path) -> None:
        """An attacker swaps a folder of the way for a link to another one, as fast as it can."""
        artifact_id = await put(home, "a/x", b"inside")
        (tmp_path / "evil").mkdir()
        (tmp_path / "evil" / "x").write_text(SECRET)
        real, away = folder_of(home) / "a", folder_of(home) / "b"
        stop = threading.Event()

        def swap() -> None:
            while not stop.is_set():
                real.rename(away)
                real.symlink_to(tmp_path / "evil")
                real.unlink()
                away.rename(real)

        attacker = threading.Thread(target=swap)
        attacker.start()
        seen: set[bytes | None] = set()
        try:
            for _ in range(300):
                with suppress(PermissionDenied, NotFound):
                    seen.add((await look(home, artifact_id)).preview)
        finally:
            stop.set()
            attacker.join()
        assert seen <= {b"inside"}


_TELLING = st.sampled_from(["a", "x", "..", "link", "up", "root", "run"])
_PARTS = _TELLING | _TELLING | st.sampled_from([".", "", "a/x", "/", "\\", "a b", "x\0y", "~"]) | st.text(max_size=6)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with a file in it, links out of it, and a secret beside it."""
    base = tmp_path_factory.mktemp("tree")
    (base / "root" / "run" / "a").mkdir(parents=True)
    (base / "root" / "run" / "a" / "x").write_text("inside")
    (base / "root" / "run" / "link").symlink_to(base)
    (base / "root" / "run" / "up").symlink_to("..")
    (base / "secret").write_text(SECRET)
    (base / "x").write_text(SECRET)
    return base


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(_PARTS | st.text(max_size=6), min_size=1, max_size=4), folder=st.sampled_from(["run", "run/link"]))
async def test_whatever_a_path_says_nothing_outside_of_the_root_is_read(tree: Path, parts: list[str], folder: str) -> None:
    files = ArtifactFiles(tree / "root")
    refused = ""
    try:
        found = await files.preview(f"{tree}/root/{folder}", "/".join(parts), max_bytes=100, expected_sha256=None)
    except StudioApplicationError as error:
        refused = str(error)
    assert (SECRET in refused, str(tree) in refused) == (False, False)
    assert refused or found.data == b"inside"
