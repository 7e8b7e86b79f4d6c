"""The profile of an agent is found where the real package finds it, and means the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from studio_tui.application.ports.schedule_sets import AgentProfile, TextFault
from studio_tui.files.profiles import find_profile

pytestmark = pytest.mark.interop

FULL = "---\nmodel: claude/opus\neffort: 3\nrole: critic\nyolo: yes\nbypass: 0\nfast_mode: on\n---\nBe brief.\n"
TEXTS = {
    "all of it": FULL,
    "none of it": "Be brief.\n",
    "a mark and blank lines before": "\ufeff\n\n" + FULL,
    "line ends of other systems": FULL.replace("\n", "\r\n"),
    "dates, other fields and a list": "---\nmodel: x\nborn: 2026-01-02\n1: 2\ntags: [a, b]\neffort: 1:30\n---\n",
    "a key twice": "---\nmodel: x\nmodel: y\n---\n",
    "words that are switches": "---\nmodel: on\neffort: no\nyolo: 'no'\n---\n",
    "only comments": "---\n# model: x\n---\n",
    "an empty value": "---\nmodel:\neffort: ~\n---\n",
}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes profiles below a folder: ``work("user/.lionagi", "name", text)``; the folder to start in is ``tree/sub``."""
    (tmp_path / "tree" / "sub").mkdir(parents=True)
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))

    def write(place: str, name: str, text: str) -> Path:
        path = tmp_path / place / "agents" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return tmp_path

    return write


def found(base: Path, name: str) -> AgentProfile | TextFault:
    return find_profile(name, base / "tree" / "sub", Path(os.environ["HOME"]))


def theirs(base: Path, name: str) -> AgentProfile:
    from lionagi.cli._providers import load_agent_profile

    profile = load_agent_profile(name, cwd=base / "tree" / "sub")
    switches = {switch: getattr(profile, switch) for switch in ("yolo", "bypass", "fast_mode")}
    return AgentProfile(model=profile.model, effort=profile.effort, role=profile.extra.get("role"), **switches)


@pytest.mark.parametrize("what", TEXTS)
def test_a_profile_says_the_same_to_both(what: str, work: Callable[..., Path]) -> None:
    base = work("user/.lionagi", "one", TEXTS[what])
    assert found(base, "one") == theirs(base, "one")


PLACES = {
    "of the user": ["user/.lionagi"],
    "of the folder before the user's": ["user/.lionagi", "tree/sub/.lionagi"],
    "of a folder above": ["user/.lionagi", "tree/.lionagi"],
    "the nearest": ["tree/.lionagi", "tree/sub/.lionagi"],
}


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("asked", ["a_b-c", "a-b-c", "a_b_c"])
def test_the_same_file_is_found(where: str, asked: str, work: Callable[..., Path]) -> None:
    base = Path()
    for place in PLACES[where]:
        base = work(place, "a_b_c", f"---\nmodel: {place}\n---\n")
    assert found(base, asked) == theirs(base, asked)


def test_the_work_tree_comes_first(work: Callable[..., Path]) -> None:
    for place in ("tree/.lionagi", "tree/sub/.lionagi"):
        base = work(place, "one", f"---\nmodel: {place}\n---\n")
    for part in ("objects", "refs"):
        (base / "tree" / ".git" / part).mkdir(parents=True)
    (base / "tree" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert found(base, "one") == theirs(base, "one") == AgentProfile(model="tree/.lionagi")


def test_a_folder_with_the_name_of_the_agent(work: Callable[..., Path]) -> None:
    base = work("user/.lionagi", "one", "---\nmodel: flat\n---\n")
    (base / "user" / ".lionagi" / "agents" / "one").mkdir()
    (base / "user" / ".lionagi" / "agents" / "one" / "one.md").write_text("---\nmodel: folder\n---\n")
    assert found(base, "one") == theirs(base, "one") == AgentProfile(model="folder")


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("none", "x", "missing"),
        ("../one", "x", "not_supported"),
        ("a b", "x", "unusable"),
        ("a-b", "x", "ambiguous"),
        ("one", "---\nmodel: [\n---\n", "unreadable"),
        ("one", "---\nmodel: x\n", "unreadable"),
        ("one", "---\nmodel: 2026-01-02\n---\n", "unreadable"),
    ],
)
def test_what_cannot_be_used_is_said_in_words(name: str, text: str, code: str, work: Callable[..., Path]) -> None:
    base = work("user/.lionagi", "one", text)
    for spelling in ("a_b", "a-b"):
        work("user/.lionagi", spelling, "x")
    if code == "ambiguous":
        name = "a_b-c"
        for spelling in ("a_b_c", "a-b-c"):
            work("user/.lionagi", spelling, "x")
    fault = found(base, name)
    assert isinstance(fault, TextFault)
    assert fault.code == code
