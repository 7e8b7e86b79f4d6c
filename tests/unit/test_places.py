from __future__ import annotations

import os
from pathlib import Path

import pytest

from studio_tui.scheduler.launch import LaunchRefused, resolve_command, resolve_cwd, resolve_li
from tests.unit.records import a_schedule


def executable(path: Path, mode: int = 0o755) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return str(path)


# --- working directories ----------------------------------------------------------------------------------------------


def test_the_schedules_own_directory_comes_first(tmp_path: Path) -> None:
    own, project = tmp_path / "own", tmp_path / "project"
    own.mkdir()
    project.mkdir()
    schedule = a_schedule(action_cwd=str(own), action_project="web")
    assert resolve_cwd(schedule, project_path=str(project), fallback="/") == str(own)
    own.rmdir()
    assert resolve_cwd(schedule, project_path=str(project), fallback="/") == str(project)


def test_only_a_schedule_that_names_nothing_goes_to_the_fallback(tmp_path: Path) -> None:
    assert resolve_cwd(a_schedule(), project_path=None, fallback=str(tmp_path)) == str(tmp_path)


@pytest.mark.parametrize(
    ("cwd", "project", "project_path", "parts"),
    [
        ("/nowhere/gone", None, None, ["directory '/nowhere/gone' does not exist"]),
        ("relative/dir", None, None, ["'relative/dir' is not an absolute path"]),
        (".", None, None, ["'.' is not an absolute path"]),
        ("", None, None, ["'' is not an absolute path"]),
        ("/etc/hostname", None, None, ["'/etc/hostname' is not a directory"]),
        ("/tmp\0", None, None, ["does not exist"]),
        (None, "web", None, ["project 'web' has no registered path"]),
        (None, "web", "/nowhere/web", ["path of project 'web' '/nowhere/web' does not exist"]),
        ("/nowhere/gone", "web", "sub", ["'/nowhere/gone' does not exist", "'sub' is not an absolute path"]),
    ],
)
def test_a_directory_that_was_named_and_cannot_be_used_is_never_replaced(
    tmp_path: Path, cwd: str | None, project: str | None, project_path: str | None, parts: list[str]
) -> None:
    schedule = a_schedule(action_cwd=cwd, action_project=project)
    with pytest.raises(LaunchRefused) as refused:
        resolve_cwd(schedule, project_path=project_path, fallback=str(tmp_path))
    assert refused.value.reason_code == "run.failed.cwd_inherit_refused"
    for part in parts:
        assert part in str(refused.value)


@pytest.mark.parametrize("fallback", [None, "/nowhere/gone", "."])
def test_the_consoles_own_directory_is_never_inherited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fallback: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LaunchRefused, match="LIONAGI_SCHEDULER_CWD") as refused:
        resolve_cwd(a_schedule(), project_path=None, fallback=fallback)
    assert refused.value.reason_code == "run.failed.cwd_inherit_refused"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every directory")
def test_a_directory_that_may_not_be_entered_is_refused(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o600)
    with pytest.raises(LaunchRefused, match="may not be entered"):
        resolve_cwd(a_schedule(action_cwd=str(closed)), project_path=None, fallback=None)


# --- executables ------------------------------------------------------------------------------------------------------


def test_li_is_looked_for_on_the_path_and_then_beside_python(tmp_path: Path) -> None:
    beside, on_path = executable(tmp_path / "venv" / "li"), executable(tmp_path / "bin" / "li")
    python = str(tmp_path / "venv" / "python")
    assert resolve_li(f"/nowhere:{tmp_path / 'bin'}", python) == (on_path,)
    assert resolve_li("/nowhere", python) == (beside,)
    assert resolve_li(None, python) == (beside,)


def test_an_li_that_is_missing_or_broken_is_reported_with_the_places_tried(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "li").symlink_to(tmp_path / "gone")
    executable(tmp_path / "b" / "li", 0o644)
    (tmp_path / "c" / "li").mkdir(parents=True)
    python = str(tmp_path / "venv" / "python")
    with pytest.raises(LaunchRefused) as refused:
        resolve_li(os.pathsep.join(str(tmp_path / name) for name in "abc"), python)
    said = str(refused.value)
    assert f"{tmp_path / 'a' / 'li'} is a broken link" in said
    if os.geteuid() != 0:
        assert f"{tmp_path / 'b' / 'li'} is not executable" in said
    for place in ("a", "b", "c", "venv"):
        assert str(tmp_path / place) in said


def test_a_relative_place_is_never_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    executable(tmp_path / "bin" / "li")
    executable(tmp_path / "li")
    with pytest.raises(LaunchRefused, match="nowhere: PATH is empty"):
        resolve_li(f".:bin:{os.pathsep}", "python")
    with pytest.raises(LaunchRefused, match="looked in /nowhere"):
        resolve_command("li", "bin:/nowhere")


def test_a_command_is_found_on_the_path_of_the_host(tmp_path: Path) -> None:
    tool = executable(tmp_path / "tool")
    assert resolve_command("tool", f"/nowhere:{tmp_path}") == tool
    with pytest.raises(LaunchRefused, match="no executable 'tool' found; looked in /nowhere"):
        resolve_command("tool", "/nowhere")
    with pytest.raises(LaunchRefused, match="PATH is empty"):
        resolve_command("tool", "")
