"""The watch on real folders. A rescan time of an hour proves that an event did it; a tiny one, that looking again did."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchfiles import _rust_notify

from studio_tui.files import watch as watch_module
from studio_tui.files.events import matters
from studio_tui.files.roots import Roots
from studio_tui.files.watch import RootWatch

Put = Callable[..., Path]
HOUR = 3600.0
SOON = 0.05
LIMIT = 30.0
"""How long a test waits before it fails, in seconds; never how long something should take."""


async def _next(watch: RootWatch) -> frozenset[str]:
    return await asyncio.wait_for(anext(watch), LIMIT)


async def _until(watch: RootWatch, told: Callable[[], bool], *, topic: str = "definitions") -> None:
    """Take what the watch tells until a condition holds; each must be of the topic."""
    async with asyncio.timeout(LIMIT):
        while not told():
            assert await anext(watch) == {topic}


@pytest.fixture(autouse=True)
def _no_thread_survives() -> Iterator[None]:
    yield
    assert [thread.name for thread in threading.enumerate() if thread.name == "folder-events"] == []


@pytest.fixture
def filled(roots: Roots, put: Put, put_play: Put) -> Roots:
    put("agents/a.md")
    put("playbooks/p.playbook.yaml", "description: x\n")
    put("skills/s/SKILL.md")
    put_play("atlas", "one", {"status": "running"})
    return roots


async def test_events_tell_which_topic_changed(filled: Roots, put: Put, put_play: Put) -> None:
    async with RootWatch(filled, rescan_seconds=HOUR) as watch:
        assert (watch.mode, watch.reason) == ("events", None)
        put("agents/new.md")
        assert await _next(watch) == {"definitions"}
        put_play("atlas", "one", {"status": "merged"})
        assert await _next(watch) == {"shows"}
        (filled.agents / "new.md").unlink()
        assert await _next(watch) == {"definitions"}
        assert watch.last_scan_at is not None


def _by_rename(path: Path, text: str) -> None:
    """As many editors do."""
    temporary = path.with_name("t")
    temporary.write_text(text)
    temporary.replace(path)


def _by_moving_away(path: Path, text: str) -> None:
    """As vim does, with its probe and its swap file."""
    path.with_name("4913").write_text("")
    path.with_name("4913").unlink()
    path.with_name(f".{path.name}.swp").write_text("swap")
    path.rename(path.with_name(f"{path.name}~"))
    path.write_text(text)
    path.with_name(f"{path.name}~").unlink()
    path.with_name(f".{path.name}.swp").unlink()


def _in_place(path: Path, text: str) -> None:
    path.write_text(text)


@pytest.mark.parametrize("save", [_in_place, _by_rename, _by_moving_away])
async def test_each_of_five_saves_is_told(filled: Roots, save: Callable[[Path, str], None]) -> None:
    path = filled.playbooks / "p.playbook.yaml"
    async with RootWatch(filled, rescan_seconds=HOUR) as watch:
        for number in range(5):
            save(path, f"description: {'x' * number} saved\n")
            assert await _next(watch) == {"definitions"}


async def test_an_editors_own_files_and_logs_tell_nothing(filled: Roots, put: Put, put_play: Put) -> None:
    async with RootWatch(filled, rescan_seconds=HOUR) as watch:
        for name in ("agents/.a.md.swp", "agents/4913", "agents/a.md~", "agents/a.tmp", "shows/atlas/one/run.log"):
            put(name)
        put_play("atlas", "one", {"status": "merged"})
        assert await _next(watch) == {"shows"}


async def test_a_new_folder_is_watched_as_well(filled: Roots, put: Put, put_play: Put) -> None:
    async with RootWatch(filled, rescan_seconds=HOUR) as watch:
        (filled.agents / "team").mkdir()
        assert await _next(watch) == {"definitions"}
        put("agents/team/lead.md")
        assert await _next(watch) == {"definitions"}
        (filled.shows / "fresh" / "play").mkdir(parents=True)
        assert await _next(watch) == {"shows"}
        put_play("fresh", "play", {"status": "running"})
        assert await _next(watch) == {"shows"}


async def test_a_root_that_is_missing_is_found_when_it_comes_and_watched_from_then_on(filled: Roots, put: Put) -> None:
    shutil.rmtree(filled.playbooks)
    async with RootWatch(filled, rescan_seconds=SOON) as watch:
        put("playbooks/p.playbook.yaml", "description: x\n")
        await _until(watch, lambda: str(filled.playbooks) in _watched(watch))
        watch._rescan_seconds = HOUR
        put("playbooks/p.playbook.yaml", "description: by an event\n")
        assert await _next(watch) == {"definitions"}


async def test_a_root_removed_made_again_and_replaced_by_a_link(filled: Roots, put: Put, tmp_path: Path) -> None:
    async with RootWatch(filled, rescan_seconds=SOON) as watch:
        shutil.rmtree(filled.playbooks)
        await _until(watch, lambda: str(filled.playbooks) not in _watched(watch))
        put("playbooks/again.playbook.yaml", "description: x\n")
        await _until(watch, lambda: str(filled.playbooks) in _watched(watch))
        filled.playbooks.rename(tmp_path / "moved")
        filled.playbooks.symlink_to(tmp_path / "moved")
        await _until(watch, lambda: str(tmp_path / "moved") in _watched(watch))
        watch._rescan_seconds = HOUR
        put("playbooks/again.playbook.yaml", "description: through the link\n")
        assert await _next(watch) == {"definitions"}


def _watched(watch: RootWatch) -> set[str]:
    return {path for path, _, _ in watch._watched}


async def test_all_roots_missing_is_quiet_until_one_comes(roots: Roots, put: Put) -> None:
    async with RootWatch(roots, rescan_seconds=SOON) as watch:
        put("skills/s.md")
        assert await _next(watch) == {"definitions"}


async def test_the_target_of_a_link_is_told_by_events(filled: Roots, tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    target = tmp_path / "checkout" / "x.md"
    target.write_text("one")
    (filled.agents / "x.md").symlink_to(target)
    async with RootWatch(filled, rescan_seconds=HOUR) as watch:
        target.write_text("longer")
        assert await _next(watch) == {"definitions"}


async def test_a_flood_is_told_together_and_none_twice(filled: Roots, put: Put, put_play: Put) -> None:
    async with RootWatch(filled, rescan_seconds=HOUR) as watch:
        for number in range(200):
            put(f"agents/flood{number}.md")
        told = 0
        put_play("atlas", "one", {"status": "merged"})
        async with asyncio.timeout(LIMIT):
            while "shows" not in await anext(watch):
                told += 1
        assert told < 50


# --- where events do not reach us ------------------------------------------------------------------------------------------


def _refuse(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def refuse(*arguments: object) -> object:
        raise error

    monkeypatch.setattr(_rust_notify, "RustNotify", refuse)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError('OS file watch limit reached. about ["/x"]'), "fs.inotify.max_user_watches"),
        (_rust_notify.WatchfilesRustInternalError("Too many open files (os error 24)"), "fs.inotify.max_user_instances"),
        (FileNotFoundError("No path was found."), "a folder went away meanwhile"),
        (RuntimeError("odd"), "the watch broke"),
    ],
)
async def test_without_events_looking_again_finds_changes_and_says_so(
    filled: Roots, put: Put, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    _refuse(monkeypatch, error)
    async with RootWatch(filled, rescan_seconds=SOON) as watch:
        assert watch.mode == "rescan"
        assert reason in (watch.reason or "")
        assert "looked at every 0.05 s" in (watch.reason or "")
        put("agents/new.md")
        assert await _next(watch) == {"definitions"}


async def test_events_are_taken_up_again_when_the_system_allows_them(
    filled: Roots, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "_RETRY_LIMIT_SECONDS", SOON)
    with monkeypatch.context() as patch:
        _refuse(patch, OSError("OS file watch limit reached."))
        watch = RootWatch(filled, rescan_seconds=HOUR)
        await watch.__aenter__()
    async with watch:
        put("agents/new.md")
        await _until(watch, lambda: watch.mode == "events")


async def test_the_systems_own_limit_is_met_with_looking_again(filled: Roots) -> None:
    program = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from studio_tui.files.roots import Roots\nfrom studio_tui.files.watch import RootWatch\n"
        "async def main():\n"
        "    async with RootWatch(Roots.of(Path(sys.argv[1]), Path(sys.argv[2]))) as watch:\n"
        "        print(watch.mode)\n"
        "asyncio.run(main())\n"
    )
    limit = "echo 0 > /proc/sys/user/max_inotify_watches && exec "
    command = f'{limit}"{sys.executable}" -c "$0" "$1" "$2"'
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-Ur", "sh", "-c", f"{limit}true"], check=False).returncode:
        pytest.skip("no user namespace of our own to lower the limit in")
    arguments = ["unshare", "-Ur", "sh", "-c", command, program, str(filled.agents.parent), str(filled.shows)]
    done = await asyncio.to_thread(subprocess.run, arguments, capture_output=True, text=True, check=False, cwd=Path.cwd())
    assert done.stdout == "rescan\n", done.stderr


async def test_more_folders_than_we_may_watch_are_looked_at(filled: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_module, "MAX_WATCHED", 2)
    async with RootWatch(filled, rescan_seconds=SOON) as watch:
        assert watch.mode == "partial"
        assert (watch.reason or "").endswith("folders are looked at every 0.05 s")
        for path in (filled.agents / "a.md", filled.skills / "s" / "SKILL.md", filled.playbooks / "p.playbook.yaml"):
            path.write_text("description: changed\n")
            assert await _next(watch) == {"definitions"}


async def test_a_name_that_breaks_the_watch_is_got_over(filled: Roots, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_module, "_RETRY_SECONDS", SOON)
    async with RootWatch(filled, rescan_seconds=HOUR) as watch:
        odd = os.path.join(os.fsencode(filled.agents), b"bad\xff.md")
        with open(odd, "wb") as handle:
            handle.write(b"x")
        assert await _next(watch) == {"definitions"}
        put("agents/next.md")
        await _until(watch, lambda: watch.mode == "events")


# --- the end ----------------------------------------------------------------------------------------------------------------


async def test_it_ends_when_it_is_cancelled(filled: Roots) -> None:
    started = asyncio.Event()

    async def follow() -> None:
        async with RootWatch(filled, rescan_seconds=HOUR) as watch:
            started.set()
            async for _ in watch:
                pass

    task = asyncio.create_task(follow())
    await asyncio.wait_for(started.wait(), LIMIT)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, LIMIT)


async def test_it_ends_when_it_is_cancelled_while_it_begins(filled: Roots, monkeypatch: pytest.MonkeyPatch) -> None:
    hold, reached = threading.Event(), asyncio.Event()
    loop, real = asyncio.get_running_loop(), _rust_notify.RustNotify

    def slow(*arguments: object) -> object:
        loop.call_soon_threadsafe(reached.set)
        hold.wait(LIMIT)
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(_rust_notify, "RustNotify", slow)
    task = asyncio.create_task(RootWatch(filled).__aenter__())
    await asyncio.wait_for(reached.wait(), LIMIT)
    task.cancel()
    hold.set()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, LIMIT)


@pytest.mark.parametrize(
    ("change", "path", "answer"),
    [
        (1, "/r/a.md", True),
        (2, "/r/a.md", True),
        (3, "/r/folder", True),
        (1, "/r/new-folder", True),
        (2, "/r/play/_meta.json", True),
        (2, "/r/play/_ABORT", True),
        (2, "/r/play/run.log", False),
        (2, "/home/state.db-wal", False),
        (1, "/r/.a.md.swp", False),
        (1, "/r/4913", False),
        (3, "/r/a.md~", False),
        (1, "/r/a.md.tmp", False),
        (1, "/r/#a.md#", False),
        (1, "/r/.#a.md", False),
    ],
)
def test_events_that_matter(change: int, path: str, answer: bool) -> None:
    assert matters(change, path) is answer
