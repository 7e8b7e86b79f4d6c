"""Artifacts and administrators' events, read by the peer, and its rules for contracts beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.ports.artifacts import ArtifactDraft
from studio_tui.clock import SystemClock
from studio_tui.domain.artifacts import contract_fault, expected_artifacts, stored_path_fault, verdict
from studio_tui.state.stores.admin_events import AdminEventStore
from studio_tui.state.stores.artifacts import ArtifactStore
from tests.builders import a_run, an_invocation
from tests.interop.peer_call import ask_peer
from tests.interop.written import our_store

pytestmark = pytest.mark.interop

LOOK = """
from lionagi.studio.services import admin, invocations
async with StateDB() as db:
    known = {}
    for name, keys in ARGUMENTS["owners"].items():
        known[name] = await db.insert_artifact(kind="report", name="main", content={"by": "peer"}, **keys)
    return {
        "one": await invocations.get_artifact(ARGUMENTS["id"]),
        "of_run": await db.list_artifacts_for_session("r1"),
        "of_invocation": await db.list_artifacts_for_invocation("i1"),
        "known": known,
        "events": await db.list_admin_events(),
        "about": [event["id"] for event in await db.list_admin_events(target_id="r1")],
    }
"""
OWNERS: dict[str, dict[str, str]] = {
    "both": {"session_id": "r1", "invocation_id": "i1"},
    "run": {"session_id": "r1"},
    "invocation": {"invocation_id": "i1"},
    "neither": {},
}


async def test_artifacts_and_events(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with our_store(home) as db:
        await a_run(db, id="r1")
        await an_invocation(db, id="i1")
        store, events = ArtifactStore(db, SystemClock()), AdminEventStore(db, SystemClock())
        other = await store.put_artifact(ArtifactDraft("diff", "ä", {"lines": [1]}, session_id="r1", file_path="a/b.diff"))
        made = {
            name: await store.put_artifact(ArtifactDraft("report", "main", {"by": "us"}, **keys)) for name, keys in OWNERS.items()
        }
        first = await events.note("transition", {"ids": ["r1"]}, actor="op")
        await events.note("transition", {"ids": ["r10"]})
        answer = ask_peer(home, LOOK, owners=OWNERS, id=other.artifact_id)
        assert answer["known"] == {name: artifact.artifact_id for name, artifact in made.items()}
        assert answer["one"] == {
            "id": other.artifact_id,
            "invocation_id": None,
            "session_id": "r1",
            "kind": "diff",
            "name": "ä",
            "created_at": other.created_at,
            "content": {"lines": [1]},
            "file_path": "a/b.diff",
        }
        ours = await store.artifacts_of_run("r1", after=None, limit=9)
        assert [row["id"] for row in answer["of_run"]] == [artifact.artifact_id for artifact in ours]
        assert [artifact.content for artifact in ours] == [{"lines": [1]}, {"by": "peer"}, {"by": "peer"}]
        assert [artifact.created_at for artifact in ours][1:] == [made["both"].created_at, made["run"].created_at]
        assert len(answer["of_invocation"]) == 2
        found = await events.list_events(action=None, target_id="r1", before=None, limit=9)
        assert answer["about"] == [event.event_id for event in found] == [first.event_id]
        assert [event["actor"] for event in answer["events"]] == ["admin", "op"]


def entry(identifier: str = "a", path: str = "a.md", **values: Any) -> dict[str, Any]:
    return {"id": identifier, "path": path, **values}


CONTRACTS: list[Any] = [
    None,
    {},
    [],
    {"expected": "x"},
    {"expected": []},
    {"expected": ["x"]},
    {"expected": [entry(), entry("b", "b/c.md", required=False, description="x", source="playbook")]},
    *({"expected": [entry(), entry(**values)]} for values in ({"identifier": "a"}, {"identifier": "b c"}, {"identifier": "b\n"})),
    *({"expected": [entry(**{name: value})]} for name, value in (("required", "yes"), ("description", 3), ("source", 3))),
    *(
        {"expected": [entry(path=path)]}
        for path in ("", "/a", "..", "a/../b", "*.md", "a{b}", "~a", "./a", "a/", ".", "a\0", "a..b")
    ),
]
PATHS = ["a", "a/b", "/a", "..", "a/../b", "C:a", "a:b", "ab:c", "a\0", "a..b", "./a"]

RULES = """
from lionagi.state.artifact_verifier import ArtifactPathError, validate_artifact_contract
from lionagi.libs.path_safety import check_path_safe
def refuses(error, call, *values):
    try:
        call(*values)
    except error:
        return True
    return False
return {
    "contracts": [refuses(ArtifactPathError, validate_artifact_contract, contract) for contract in ARGUMENTS["contracts"]],
    "paths": [refuses(ValueError, check_path_safe, path, "file_path") for path in ARGUMENTS["paths"]],
}
"""


def test_what_is_a_contract_and_a_path_is_what_the_peer_says(tmp_path: Path) -> None:
    answer = ask_peer(tmp_path, RULES, contracts=CONTRACTS, paths=PATHS)
    assert [contract_fault(contract) is not None for contract in CONTRACTS] == answer["contracts"]
    assert [stored_path_fault(path) is not None for path in PATHS] == answer["paths"]


VERDICTS = """
from lionagi.state.artifact_verifier import verify_artifact_contract
answers = []
for contract in ARGUMENTS["contracts"]:
    for root in ARGUMENTS["roots"]:
        found = verify_artifact_contract(contract, artifacts_root=root)
        missing = [[entry["id"] for entry in found[name]] for name in ("missing_required", "missing_optional")]
        answers.append([found["status"], *missing, [entry["id"] for entry in found["produced"]]])
return answers
"""


def test_verdicts_are_those_of_the_peer(tmp_path: Path) -> None:
    roots = []
    for number, names in enumerate(((), ("a.md",), ("b.md",), ("a.md", "b.md"))):
        root = tmp_path / f"root{number}"
        root.mkdir()
        for name in names:
            (root / name).write_text("x")
        roots.append(str(root))
    contracts = [
        {"expected": [entry("a", "a.md", required=required), entry("b", "b.md", required=other)]}
        for required in (True, False)
        for other in (True, False)
    ]
    answers = ask_peer(tmp_path, VERDICTS, contracts=[*contracts, {"expected": []}], roots=[*roots, str(tmp_path / "gone")])
    assert len(answers) == 25
    for number, (status, required, optional, produced) in enumerate(answers):
        ours = verdict(expected_artifacts([*contracts, {"expected": []}][number // 5]), produced)
        assert (ours.status, [missing.artifact_id for missing in ours.missing_required]) == (status, required)
        assert [missing.artifact_id for missing in ours.missing_optional] == optional
