from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from studio_tui.files.roots import Roots
from studio_tui.files.survey import survey

Put = Callable[..., Path]


@pytest.fixture
def filled(roots: Roots, put: Put, put_play: Put) -> Roots:
    put("agents/a.md")
    put("agents/team/lead.md")
    put("playbooks/p.playbook.yaml", "description: x\n")
    put("skills/s/SKILL.md")
    put("shows/atlas/_show.md", "# Atlas\n")
    put_play("atlas", "one", {"status": "running"}, {"gate_passed": True})
    return roots


@pytest.mark.parametrize(
    ("path", "topic"),
    [
        ("agents/a.md", "definitions"),
        ("agents/team/lead.md", "definitions"),
        ("agents/new.md", "definitions"),
        ("playbooks/p.playbook.yaml", "definitions"),
        ("skills/s/SKILL.md", "definitions"),
        ("skills/new/any.md", "definitions"),
        ("shows/atlas/_show.md", "shows"),
        ("shows/atlas/_ABORT", "shows"),
        ("shows/atlas/_final_verdict.json", "shows"),
        ("shows/atlas/one/_meta.json", "shows"),
        ("shows/atlas/one/_verdict.json", "shows"),
        ("shows/atlas/one/_intent.md", "shows"),
        ("shows/atlas/one/_prompt.md", "shows"),
        ("shows/atlas/two/anything", "shows"),
        ("shows/new/anything", "shows"),
    ],
)
def test_each_file_that_a_list_is_made_of_changes_its_topic(filled: Roots, put: Put, path: str, topic: str) -> None:
    before = survey(filled)
    put(path, "changed: yes, and longer than before\n")
    assert survey(filled).changed_since(before) == {topic}


@pytest.mark.parametrize(
    "path",
    ["agents/.a.md.swp", "agents/4913", "agents/a.md~", "agents/#a.md#", "agents/a.tmp", "agents/.#a.md", "agents/deep/er/x.md",
     "shows/atlas/notes.txt", "shows/atlas/one/run.log", "shows/atlas/one/.pid", "shows/atlas/one/_meta.json.tmp"],
)  # fmt: skip
def test_files_that_no_list_is_made_of_change_nothing(filled: Roots, put: Put, path: str) -> None:
    (filled.agents / "deep" / "er").mkdir(parents=True)
    before = survey(filled)
    put(path, "changed: yes, and longer than before\n")
    assert survey(filled).changed_since(before) == set()


def test_removal_rename_and_mode_are_changes(filled: Roots) -> None:
    before = survey(filled)
    (filled.agents / "a.md").chmod(0o600)
    second = survey(filled)
    assert second.changed_since(before) == {"definitions"}
    (filled.agents / "a.md").rename(filled.agents / "b.md")
    third = survey(filled)
    assert third.changed_since(second) == {"definitions"}
    (filled.agents / "b.md").unlink()
    assert survey(filled).changed_since(third) == {"definitions"}


def test_the_target_of_a_link_is_watched_and_its_edit_is_a_change(filled: Roots, tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout" / "x.md").write_text("one")
    (filled.agents / "x.md").symlink_to(tmp_path / "checkout" / "x.md")
    before = survey(filled)
    assert os.path.realpath(tmp_path / "checkout") in {folder.path for folder in before.folders}
    (tmp_path / "checkout" / "x.md").write_text("longer")
    assert survey(filled).changed_since(before) == {"definitions"}


def test_a_link_to_everything_does_not_watch_everything(filled: Roots) -> None:
    before = {folder.path for folder in survey(filled).folders}
    (filled.agents / "all").symlink_to("/")
    (filled.shows / "atlas" / "all").symlink_to("/")
    (filled.shows / "atlas" / "up").symlink_to("..")
    after = {folder.path for folder in survey(filled).folders}
    assert {os.path.basename(path) for path in after - before} <= {"all", "up"}


def test_a_root_made_anew_under_its_name_is_another_folder(filled: Roots, tmp_path: Path) -> None:
    before = survey(filled)
    filled.skills.rename(tmp_path / "old")
    filled.skills.mkdir()
    after = survey(filled)
    assert after.identities() != before.identities()
    assert after.changed_since(before) == {"definitions"}


def test_a_root_turned_to_a_folder_with_the_same_files_is_a_change(filled: Roots, tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    filled.skills.rename(tmp_path / "aside")
    filled.skills.symlink_to(tmp_path / "first")
    before = survey(filled)
    filled.skills.unlink()
    filled.skills.symlink_to(tmp_path / "second")
    assert survey(filled).changed_since(before) == {"definitions"}


def test_surveying_what_is_not_there_makes_nothing(roots: Roots) -> None:
    assert survey(roots).folders == ()
    assert not roots.agents.parent.exists()


def test_the_weird_root_is_surveyed_without_opening_a_thing(weird_root: Roots) -> None:
    assert survey(weird_root).changed_since(survey(weird_root)) == set()
