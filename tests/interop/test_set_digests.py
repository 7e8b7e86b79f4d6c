"""Made-up members: whatever we take, the peer takes too, with the same digest; and both read back what we write."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lionagi.studio.services import schedule_declaration as peer

from studio_tui.application.errors import ValidationFailure
from studio_tui.application.launching import LaunchFacts, LaunchPreview
from studio_tui.application.set_resolving import ResolvedMember, Resolver
from studio_tui.application.set_shape import read_document
from studio_tui.application.set_text import yaml_text
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.files.schedule_sets import SetFiles
from studio_tui.files.yaml_tree import read_tree
from studio_tui.launch_facts import flow_problem
from tests.interop.sets import ALLOWED, Project
from tests.unit.records import NOW, UTC

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project.make(tmp_path_factory.mktemp("digests"))


async def _preview(_schedule: ScheduleRecord) -> LaunchPreview:
    return LaunchPreview()


FACTS = LaunchFacts(_preview, lambda: frozenset(ALLOWED.split(",")), os.path.isdir, flow_problem)

WORDS = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=12),
    st.sampled_from(["on", "NO", "1:30", "1e3", "010", "~", "a: b", "- x", "{{x}}", "é\n\nb ", "\u2028"]),
)
SCALARS = st.one_of(WORDS, st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))
NAMES = st.sampled_from(["topic", "top_k", "on", "null", "A-1", "_x"])
TRIGGERS = st.one_of(
    st.builds(lambda number, unit: {"every": f"{number}{unit}"}, st.integers(1, 31), st.sampled_from("smhd")),
    st.builds(
        lambda when, offset: {"at": f"{when}{offset}"},
        st.datetimes(min_value=datetime(1980, 1, 1), max_value=datetime(2500, 1, 1)).map(lambda when: when.isoformat()),
        st.sampled_from(["Z", "+05:30", "-00:00", "+14:00"]),
    ),
    st.builds(
        lambda minute, zone: {"cron": {"expression": f"{minute} 9 * * 1", "timezone": zone}},
        st.sampled_from(["0", "*/7", "5,10", "1-9/2", "61"]),
        st.sampled_from(["UTC", "Europe/Berlin", "Asia/Tokyo", "Nowhere/City"]),
    ),
    st.fixed_dictionaries(
        {"repo": st.sampled_from(["octo/cat", "a/b.c", "octo"])},
        optional={"filter": st.dictionaries(st.sampled_from(["event", "base", "state"]), st.just("pr_merged"))},
    ).map(lambda github: {"github": github}),
)
TARGETS = st.one_of(
    st.builds(
        lambda profile, prompt, more: {"kind": "agent", "profile": profile, "prompt": prompt, **more},
        st.sampled_from(["reviewer", "late-night", "late_night", "nobody"]),
        WORDS.map(lambda word: f"do {word}"),
        st.sampled_from([{}, {"model": "openai:gpt-5"}]),
    ),
    st.builds(
        lambda name, args: {"kind": "playbook", "name": name, "args": args},
        st.sampled_from(["report", "a/b", "list"]),
        st.dictionaries(NAMES, SCALARS),
    ),
    st.builds(
        lambda name, args: {"kind": "command", "executable": name, "args": args},
        st.sampled_from(["date", "echo", "git", "rm"]),
        st.lists(WORDS, max_size=3),
    ),
    st.sampled_from([{"kind": "flow", "file": "flows/news.yaml"}, {"kind": "flow", "file": "flows/none.yaml"}]),
)
COUNTS = st.one_of(st.none(), st.integers(1, 9))
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "missedFire": st.sampled_from(["skip", "run_once"]),
        "overlap": st.sampled_from(["skip", "allow"]),
        "maxRuns": COUNTS,
        "budget": st.fixed_dictionaries({}, optional={"usd": st.floats(0.001, 1e9) | st.integers(1, 5), "tokens": COUNTS}),
        "rateLimit": st.fixed_dictionaries({"max_fires": st.integers(1, 5), "window_sec": st.integers(1, 9)}),
    },
)
MEMBERS = st.fixed_dictionaries(
    {"trigger": TRIGGERS, "target": TARGETS},
    optional={
        "description": WORDS,
        "enabled": st.booleans(),
        "policies": POLICIES,
        "execution": st.fixed_dictionaries(
            {}, optional={"cwd": st.sampled_from(["sub", ".", "sub/../sub/"]), "project": st.sampled_from([None, "", "web"])}
        ),
        "notify": st.fixed_dictionaries(
            {
                "on": st.lists(st.sampled_from(["failed", "completed", "aborted"]), min_size=1, max_size=2, unique=True),
                "command": WORDS.map(lambda word: f"tell {word}"),
            }
        ),
    },
)


@given(member=MEMBERS)
@settings(max_examples=80, deadline=None)
def test_what_we_take_the_peer_takes_with_the_same_digest(member: dict[str, Any], project: Project) -> None:
    text = yaml_text(document(member))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(project.user))
        patch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", ALLOWED)
        found = our_member(text, project)
        assume(found is not None)
        assert found is not None
        (theirs,) = peer.resolve_schedule_set(peer.parse_schedule_set(text), project.sets).values()
    assert found.resolved == json.loads(json.dumps(theirs.resolved))
    assert found.digest == theirs.digest
    assert found.authored == theirs.authored
    own = {"action_command_args", "notify_on"}
    assert {name: value for name, value in found.columns.items() if name not in own | {"resolved_timezone"}} == {
        name: value for name, value in theirs.db_fields.items() if name not in own
    }


def document(member: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "lionagi.io/v1alpha1",
        "kind": "ScheduleSet",
        "metadata": {"name": "made", "project": "atlas"},
        "schedules": {"one": member},
    }


def our_member(text: str, project: Project) -> ResolvedMember | None:
    """The member, or ``None`` when we refuse it."""
    file = project.write(text, "made.yaml")
    files = SetFiles(Path(os.environ["HOME"]))
    read = files.read_set(str(file))
    try:
        (member,) = Resolver(files, FACTS, UTC, NOW).members(read_document(read), read)
    except ValidationFailure:
        return None
    return member


JSON = st.recursive(
    st.one_of(st.none(), SCALARS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=12,
)


@given(value=st.dictionaries(WORDS, JSON, min_size=1, max_size=4))
@settings(max_examples=80, deadline=None)
def test_what_we_write_both_read_back_as_it_was(value: dict[str, Any]) -> None:
    text = yaml_text(value)
    assert read_tree(text).data == value
    assert yaml.load(text, Loader=peer._ScheduleSetLoader) == value
    assert all(map(str.isprintable, text.splitlines())), "a terminal may have it as it is"


PLAIN = st.text(alphabet="0123456789abefnotxyOYN+-._:~TZ ", min_size=1, max_size=10)


@given(value=PLAIN)
@settings(max_examples=200, deadline=None)
def test_a_plain_word_means_the_same_to_both(value: str) -> None:
    try:
        theirs = yaml.safe_load(f"a: {value}\n")
    except (yaml.YAMLError, ValueError):
        return
    found = read_tree(f"a: {value}\n")
    if found.faults or not isinstance(theirs, dict):
        return
    assert str(found.data) == str(theirs), "in words: NaN is not even itself, and 1 is True"
