from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from studio_tui.domain.shows import PlayRecord, ShowRecord
from studio_tui.files import show_documents
from studio_tui.files.reading import Blob, read_file
from studio_tui.files.roots import Roots
from studio_tui.files.shows import ShowFiles
from tests.files.conftest import age

Put = Callable[..., Path]


async def _show(roots: Roots, topic: str = "atlas") -> ShowRecord:
    return {show.topic: show for show in await ShowFiles(roots).list_shows()}[topic]


async def _plays(roots: Roots, topic: str = "atlas") -> dict[str, PlayRecord]:
    return {play.name: play for play in (await _show(roots, topic)).plays}


async def test_a_missing_root_is_empty_and_nothing_is_made(roots: Roots) -> None:
    assert await ShowFiles(roots).list_shows() == ()
    assert await ShowFiles(roots).read_show("atlas") is None
    assert not roots.shows.exists()


async def test_a_root_that_cannot_be_listed_is_a_record(roots: Roots) -> None:
    roots.shows.write_text("a file where the folder should be")
    shows = await ShowFiles(roots).list_shows()
    assert [(show.topic, show.error) for show in shows] == [("shows", "the folder of shows: a file, not a folder")]


async def test_a_show_with_all_that_its_files_say(roots: Roots, put: Put, put_play: Put) -> None:
    put(
        "shows/atlas/_show.md",
        "- Repo: demo/atlas\r\n- Integration: show/atlas (from main)\r\n- Base: main\r\n\r\n## Goal\r\nShip.\r\n",
    )
    put_play(
        "atlas",
        "parser",
        {
            "status": "gate_failed",
            "attempt": 2,
            "exit_code": 1,
            "started_at": "2026-11-28T01:48:20Z",
            "ended_at": 1_795_831_700,
            "worktree": "/srv/w",
            "branch": "play/parser",
            "merge_sha": "a1b2",
            "merged_at": "nonsense",
            "attention_opt_in": True,
        },
        {"gate_passed": False, "feedback": "slower"},
    )
    put("shows/atlas/notes.txt", "not a play")
    show = await _show(roots)
    assert (show.goal, show.repo, show.base_branch, show.integration_branch) == ("Ship.", "demo/atlas", "main", "show/atlas")
    assert (show.status, show.error, show.show_dir, dict(show.documents)) == ("active", None, str(roots.shows / "atlas"), {})
    assert show.updated_at is not None
    (play,) = show.plays
    times = [(roots.shows / "atlas" / "parser" / name).stat().st_mtime for name in ("_meta.json", "_verdict.json")]
    assert play == PlayRecord(
        name="parser",
        status="gate_failed",
        attempt=2,
        exit_code=1,
        started_at=1_795_830_500.0,
        ended_at=1_795_831_700.0,
        worktree="/srv/w",
        branch="play/parser",
        merge_sha="a1b2",
        gate_passed=False,
        gate_feedback="slower",
        reason_code="play.gate_failed.verdict",
        attention_opt_in=True,
        updated_at=max(times),
    )


async def test_markers_decide_the_status_of_a_show(roots: Roots, put: Put, put_play: Put) -> None:
    for topic in ("aborted", "passed", "merged", "failed"):
        put_play(topic, "one", {"status": "merged" if topic != "failed" else "running"})
    put("shows/aborted/_ABORT", "stopped by operator\nmore\n")
    put("shows/aborted/_final_verdict.json", '{"show_passed": true}')
    put("shows/passed/_final_verdict.json", '{"show_passed": true}')
    put("shows/failed/_final_verdict.json", '{"show_passed": false}')
    shows = {show.topic: (show.status, show.reason_code, show.reason_summary) for show in await ShowFiles(roots).list_shows()}
    assert shows == {
        "aborted": ("aborted", "show.aborted.operator", "stopped by operator"),
        "passed": ("completed", "show.completed.final_gate", None),
        "merged": ("completed", "show.completed.all_plays_merged", None),
        "failed": ("active", None, None),
    }


async def test_no_word_of_a_play_a_broken_one_and_an_explicit_one_are_told_apart(roots: Roots, put: Put, put_play: Put) -> None:
    (roots.shows / "atlas" / "begun").mkdir(parents=True)
    put("shows/atlas/broken/_meta.json", "{not json")
    put("shows/atlas/list/_meta.json", "[]")
    put("shows/atlas/latin/_meta.json", b'{"status": "\xe9"}')
    put("shows/atlas/deep/_meta.json", '{"a":' * 100_000)
    put("shows/atlas/empty/_meta.json", "")
    put_play("atlas", "number", {"status": 7})
    put_play("atlas", "silent", {"attempt": 1})
    put_play("atlas", "waiting", {"status": "pending"})
    plays = {name: (play.status, play.error) for name, play in (await _plays(roots)).items()}
    assert plays == {
        "begun": (None, None),
        "broken": (None, "_meta.json: not JSON: line 1: Expecting property name enclosed in double quotes"),
        "deep": (None, "_meta.json: not JSON that can be read"),
        "empty": (None, "_meta.json: not JSON: line 1: Expecting value"),
        "latin": (None, "_meta.json: not UTF-8 text"),
        "list": (None, "_meta.json: not a JSON object"),
        "number": (None, "_meta.json: the status is not a word"),
        "silent": (None, None),
        "waiting": ("pending", None),
    }


async def test_a_broken_verdict_leaves_the_status_and_says_so(roots: Roots, put: Put, put_play: Put) -> None:
    put_play("atlas", "one", {"status": "gated"})
    put("shows/atlas/one/_verdict.json", "{")
    put_play("atlas", "two", {"status": "gated"}, {"gate_passed": "yes", "feedback": ["x"]})
    plays = await _plays(roots)
    assert (plays["one"].status, plays["one"].gate_passed) == ("gated", None)
    assert (plays["one"].error or "").startswith("_verdict.json: not JSON")
    assert (plays["two"].gate_passed, plays["two"].gate_feedback, plays["two"].error) == (None, None, None)


async def test_files_that_cannot_be_read_are_problems_in_words(roots: Roots, put: Put, put_play: Put, tmp_path: Path) -> None:
    (roots.shows / "atlas" / "folder" / "_meta.json").mkdir(parents=True)
    put_play("atlas", "pipe", {"status": "running"})
    (roots.shows / "atlas" / "pipe" / "_meta.json").unlink()
    os.mkfifo(roots.shows / "atlas" / "pipe" / "_meta.json")
    (tmp_path / "secret.json").write_text('{"status": "merged"}')
    for name, target in (("out", tmp_path / "secret.json"), ("loop", "_meta.json")):
        (roots.shows / "atlas" / name).mkdir()
        (roots.shows / "atlas" / name / "_meta.json").symlink_to(target)
    put("shows/atlas/big/_meta.json", '{"status": "' + "x" * 1024 * 1024 + '"}')
    (roots.shows / "atlas" / "_show.md").mkdir()
    put("shows/atlas/_final_verdict.json", "nope")
    plays = {name: (play.status, play.error) for name, play in (await _plays(roots)).items()}
    assert plays == {
        "_show.md": (None, None),
        "big": (None, "_meta.json: longer than 1024 KiB"),
        "folder": (None, "_meta.json: a folder, not a file"),
        "loop": (None, "_meta.json: a link that leads back to itself"),
        "out": (None, "_meta.json: a link out of the shows root; not followed"),
        "pipe": (None, "_meta.json: a pipe; not opened"),
    }
    assert (await _show(roots)).error == (
        "_show.md: a folder, not a file; _final_verdict.json: not JSON: line 1: Expecting value"
    )


async def test_a_folder_that_cannot_be_read_is_a_problem(roots: Roots, put_play: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = put_play("atlas", "one", {"status": "running"}).parent
    put_play("other", "one", {"status": "running"})
    if os.geteuid() != 0:
        closed.chmod(0)
    else:  # root reads it all the same
        listed = os.scandir

        def refused(path: str | Path) -> object:
            if Path(path) == closed:
                raise PermissionError(13, "Permission denied")
            return listed(path)

        monkeypatch.setattr(os, "scandir", refused)
    shows = {show.topic: show for show in await ShowFiles(roots).list_shows()}
    closed.chmod(0o755)
    assert (shows["atlas"].error or "").startswith("permission denied")
    assert shows["atlas"].plays == ()
    assert shows["other"].error is None


async def test_links_are_not_followed_up_or_out(roots: Roots, put_play: Put, tmp_path: Path) -> None:
    put_play("atlas", "one", {"status": "running"})
    (tmp_path / "elsewhere" / "play").mkdir(parents=True)
    (roots.shows / "atlas" / "up").symlink_to("..")
    (roots.shows / "atlas" / "self").symlink_to(".")
    (roots.shows / "atlas" / "out").symlink_to(tmp_path / "elsewhere")
    (roots.shows / "atlas" / "gone").symlink_to("nowhere")
    (roots.shows / "linked").symlink_to(tmp_path / "elsewhere")
    (roots.shows / "alias").symlink_to("atlas")
    shows = {show.topic: show for show in await ShowFiles(roots).list_shows()}
    assert {play.name: play.error for play in shows["atlas"].plays} == {
        "one": None,
        "out": "a link out of the shows root; not followed",
        "self": "a link to a folder above it; not followed",
        "up": "a link to a folder above it; not followed",
    }
    assert shows["linked"].error == "a link out of the shows root; not followed"
    assert shows["linked"].plays == ()
    assert [play.status for play in shows["alias"].plays if play.name == "one"] == ["running"]
    opened = await ShowFiles(roots).read_show("linked")
    assert opened is not None
    assert dict(opened.documents) == {}


async def test_a_thousand_plays_in_the_order_of_their_folders(roots: Roots, put_play: Put) -> None:
    for number in range(1_000):
        put_play("atlas", f"p{number:04}", {"status": "merged"})
    show = await _show(roots)
    assert [play.sort_order for play in show.plays] == list(range(1_000))
    assert [play.name for play in show.plays] == sorted(play.name for play in show.plays)
    assert show.status == "completed"


async def test_documents_come_with_one_show_only(roots: Roots, put: Put, put_play: Put) -> None:
    put_play("atlas", "one", {"status": "running"})
    put("shows/atlas/_show.md", "# Atlas\n")
    put("shows/atlas/one/_intent.md", b"caf\xe9\n")
    put("shows/atlas/one/_prompt.md", "x" * 300 * 1024)
    put("shows/atlas/one/other.md", "not a document")
    show = await ShowFiles(roots).read_show("atlas")
    assert show is not None
    assert list(show.documents) == ["_show.md", "one/_intent.md", "one/_prompt.md"]
    assert show.documents["_show.md"] == "# Atlas\n"
    assert show.documents["one/_intent.md"] == "caf\ufffd\n"
    assert show.documents["one/_prompt.md"] == "x" * 256 * 1024 + "\n[cut: the first 256 KiB of 300 KiB]\n"


async def test_documents_that_cannot_be_read_say_why(roots: Roots, put_play: Put, tmp_path: Path) -> None:
    play = put_play("atlas", "one", {"status": "running"})
    (tmp_path / "key").write_text("secret")
    (play / "_intent.md").symlink_to(tmp_path / "key")
    (play / "_prompt.md").mkdir()
    show = await ShowFiles(roots).read_show("atlas")
    assert show is not None
    assert show.documents == {
        "one/_intent.md": "[not read: a link out of the shows root; not followed]\n",
        "one/_prompt.md": "[not read: a folder, not a file]\n",
    }


async def test_documents_of_one_show_are_bounded_together(roots: Roots, put: Put, put_play: Put) -> None:
    for number in range(40):
        put_play("atlas", f"p{number:02}", {"status": "running"})
        put(f"shows/atlas/p{number:02}/_prompt.md", "x" * 300 * 1024)
    show = await ShowFiles(roots).read_show("atlas")
    assert show is not None
    assert sum(len(content) for content in show.documents.values()) < 9 * 1024 * 1024
    assert show.documents["p39/_prompt.md"] == "[not read: the documents of this show exceed 8 MiB]\n"


@pytest.mark.parametrize("topic", ["", ".", "..", "../shows", "atlas/one", "/etc", "x" * 5_000, "a\0b", "\udcff"])
async def test_a_topic_is_a_name_not_a_path(roots: Roots, put_play: Put, topic: str) -> None:
    put_play("atlas", "one", {"status": "running"})
    assert await ShowFiles(roots).read_show(topic) is None


async def test_odd_topics_open_as_they_are_listed(roots: Roots) -> None:
    for name in (b"new\nline", b"bad\xff", b"[bold]", b" lead"):
        os.makedirs(os.path.join(os.fsencode(roots.shows), name, b"pl\xffay"))
    files = ShowFiles(roots)
    listed = await files.list_shows()
    assert {show.topic for show in listed} == {"new\nline", "bad\\xff", "[bold]", " lead"}
    for show in listed:
        show.topic.encode()
        assert await files.read_show(show.topic) == show
        assert [play.name for play in show.plays] == ["pl\\xffay"]


# --- files that are being written -----------------------------------------------------------------------------------------


def _torn_at_first(monkeypatch: pytest.MonkeyPatch, times: int) -> list[str]:
    reads: list[str] = []

    def torn(path: str, limit: int) -> Blob:
        blob = read_file(path, limit)
        reads.append(os.path.basename(path))
        return Blob(blob.data[:5], blob.status, complete=True) if len(reads) <= times else blob

    monkeypatch.setattr(show_documents, "read_file", torn)
    return reads


async def test_a_half_written_file_is_read_once_more(roots: Roots, put_play: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    put_play("atlas", "one", {"status": "running"})
    reads = _torn_at_first(monkeypatch, 1)
    play = (await _plays(roots))["one"]
    assert (play.status, play.error) == ("running", None)
    assert reads == ["_meta.json", "_meta.json"]


async def test_it_is_broken_when_it_still_is_then(roots: Roots, put_play: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    put_play("atlas", "one", {"status": "running"})
    reads = _torn_at_first(monkeypatch, 2)
    assert (await _plays(roots))["one"].error
    assert len(reads) == 2
    assert (await _plays(roots))["one"].error is None


async def test_a_file_that_changes_while_it_is_read_is_read_again_however_old_it_looks(
    roots: Roots, put_play: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put_play("atlas", "one", {"status": "running"}) / "_meta.json"
    age(path)

    def rewritten(name: str, limit: int) -> Blob:
        blob = read_file(name, limit)
        if b"running" not in blob.data:
            return blob
        path.write_text('{"status": "merged"}')
        age(path)
        return Blob(blob.data[:5], blob.status, complete=True)

    monkeypatch.setattr(show_documents, "read_file", rewritten)
    assert (await _plays(roots))["one"].status == "merged"


async def test_old_broken_files_are_read_once_and_remembered(roots: Roots, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    age(put("shows/atlas/one/_meta.json", "{"))
    reads = _torn_at_first(monkeypatch, 0)
    files = ShowFiles(roots)
    first = await files.list_shows()
    assert await files.list_shows() == first
    assert reads == ["_meta.json"]


async def test_many_fresh_broken_files_do_not_wait_each(roots: Roots, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        put(f"shows/atlas/p{number}/_meta.json", "{")
    pauses: list[float] = []
    monkeypatch.setattr(show_documents.time, "sleep", pauses.append)
    assert all(play.error for play in (await _show(roots)).plays)
    assert len(pauses) == 10
