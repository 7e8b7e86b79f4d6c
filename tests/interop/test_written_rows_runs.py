"""What we write about runs: controls, signals, tags, labels and projects, each read by the peer through its own services."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict
from studio_tui.application.ports import RunFilter
from studio_tui.application.ports.projects import ProjectChanges
from studio_tui.clock import SystemClock
from studio_tui.state.db import StateDB
from studio_tui.state.stores.controls import ControlStore
from studio_tui.state.stores.projects import ProjectStore
from studio_tui.state.stores.runs import RunStore
from studio_tui.state.stores.signals import SignalStore
from studio_tui.state.stores.tags import TagStore
from tests.builders import NOW, a_branch, a_run
from tests.interop.peer_call import ask_peer
from tests.interop.written import our_store
from tests.state.run_pages import listed

pytestmark = pytest.mark.interop

FLOW = {
    "status": "running",
    "invocation_kind": "flow",
    "run_id": "20260101T000000-abcdef",
    "node_metadata": {"flow_control_poller": "active"},
}

CONTROLS = """
from lionagi.studio.services import sessions, signals
async with StateDB() as db:
    pending = await db.list_pending_session_controls("flow")
    held = [(await sessions.get_session("flow"))["pause_is_held"]]
    await db.finalize_session_control(pending[0]["id"], result="applied")
    claim = await db.mark_session_control_applying(pending[1]["id"], owner="run-7")
    await db.finalize_session_control(pending[1]["id"], result="rejected:no-pending-ops", expect_claim=claim)
    theirs = await db.insert_session_control(session_id="flow", verb="resume", require_live_flow_poller=True)
    held.append((await sessions.get_session("flow"))["pause_is_held"])
    told = await signals.get_signals_after("flow", 1)
    seq = await db.insert_session_signal(session_id="flow", kind="RunEnd", ts=1.5, payload={"n": 1})
    return {"pending": pending, "held": held, "theirs": theirs, "told": told, "seq": seq}
"""


async def test_controls_and_signals(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with our_store(home) as db:
        await a_run(db, id="flow", **FLOW)
        await a_branch(db, "flow")
        controls, signals = ControlStore(db, SystemClock()), SignalStore(db, SystemClock())
        paused = await controls.send("flow", "pause")
        told = await controls.send("flow", "message", text="Hör auf.")
        for kind in ("RunStart", "NodeStarted"):
            await signals.append("flow", kind, {"name": "ä"}, op_id="op")
        answer = ask_peer(home, CONTROLS)
        assert [(row["id"], row["verb"], row["payload"]) for row in answer["pending"]] == [
            (paused.control_id, "pause", None),
            (told.control_id, "message", {"text": "Hör auf."}),
        ]
        assert answer["held"] == [True, False]
        assert not await controls.pause_is_held("flow")
        assert [control.control_id for control in await controls.pending("flow")] == [answer["theirs"]]
        assert [(row["seq"], row["kind"], row["op_id"], row["payload"]) for row in answer["told"]] == [
            (2, "NodeStarted", "op", {"name": "ä"})
        ]
        assert answer["seq"] == 3
        assert (await signals.append("flow", "RunFailed", {})).seq == 4


LISTENS = """
from lionagi.studio.operator.run_control import _admission_refusal
async with StateDB() as db:
    rows = {id: await db.get_session(id) for id in ARGUMENTS["ids"]}
    return {f"{id} {verb}": _admission_refusal(row, verb) for id, row in rows.items() for verb in ("pause", "resume", "message")}
"""


async def test_who_listens_is_what_the_peer_says(tmp_path: Path) -> None:
    home = tmp_path / "home"
    kinds = ("agent", "flow", "play", "fanout", "engine", "show-play", None)
    metadata = (None, {"drains_controls": True}, *({"flow_control_poller": word} for word in ("pending", "active", "stopped")))
    async with our_store(home) as db:
        ids = []
        for kind in kinds:
            for number, keys in enumerate(metadata):
                for status in ("running", "completed"):
                    name = f"{kind}/{number}/{status}"
                    ids.append(name)
                    run_id = None if number == 1 and status == "completed" else FLOW["run_id"]
                    await a_run(db, id=name, invocation_kind=kind, node_metadata=keys, status=status, run_id=run_id)
        await a_run(db, id="mirrored", status="running", node_metadata={"drains_controls": True}, run_id=None)
        theirs = ask_peer(home, LISTENS, ids=[*ids, "mirrored"])
        controls, ours = ControlStore(db, SystemClock()), {}
        for name in theirs:
            run_id, verb = name.rsplit(" ", 1)
            try:
                await controls.send(run_id, verb, text="x" if verb == "message" else None)
            except Conflict:
                ours[name] = False
            else:
                ours[name] = True
    assert ours == {name: refusal is None for name, refusal in theirs.items()}
    assert any(ours.values())


WRITTEN = """
from lionagi.studio.services import projects, run_tags, runs
from lionagi.studio.services.sessions import get_session
page = await runs.list_runs()
return {
    "tags": await run_tags.tags_for_sessions(["r1", "r2"]),
    "tagged": sorted(await run_tags.session_ids_with_tags(["a", "b"])),
    "by_tag": [run["session_id"] for run in await runs.list_runs(tag=["a"])],
    "page": page,
    "one": await get_session("r1"),
    "projects": await projects.list_projects(),
    "web": await projects.get_project("web"),
}
"""


async def _write(db: StateDB) -> tuple[ProjectStore, RunStore]:
    tags, known = TagStore(db, SystemClock()), ProjectStore(db, SystemClock())
    for number in range(4):
        await a_run(db, id=f"r{number}", updated_at=NOW + number, project="old" if number == 3 else None)
    for run_id, tag in (("r1", "a"), ("r1", "b"), ("r2", "a")):
        await tags.add_tag(run_id, tag)
    await tags.set_label("r1", "Die Gute", seen=None)
    await known.create_project("web", description="Seite")
    await known.register_project("web", "git_remote", github="o/web")
    await known.update_project("web", ProjectChanges({"path": "/srv/web"}))
    await known.assign_runs("web", ["r1", "r3"])
    return known, RunStore(db)


async def test_tags_labels_and_projects(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with our_store(home) as db:
        known, runs = await _write(db)
        answer = ask_peer(home, WRITTEN)
        assert answer["tags"] == {"r1": ["a", "b"], "r2": ["a"]}
        assert answer["tagged"] == await listed(runs, RunFilter(tags=("a", "b"))) == ["r1"]
        assert answer["by_tag"] == await listed(runs, RunFilter(tags=("a",))) == ["r2", "r1"]
        assert (answer["one"]["project"], answer["one"]["project_source"], answer["one"]["user_label"]) == (
            "web",
            "manual",
            "Die Gute",
        )
        assert [row["updated_at"] for row in answer["page"]] == [NOW + 3, NOW + 2, NOW + 1, NOW]
        found = await known.list_projects()
        assert answer["projects"]["unassigned_count"] == found.unassigned == 2
        (theirs,) = answer["projects"]["projects"]
        (ours,) = found.projects
        assert _as_the_peer(ours) == theirs
        use = await known.project_use("web")
        assert [(row["agent_name"], row["run_count"]) for row in answer["web"]["agents_used"]] == list(use.agents)


def _as_the_peer(project: Any) -> dict[str, object]:
    names = ("name", "source", "path", "github", "description", "created_at", "updated_at", "last_seen_at")
    row: dict[str, object] = {name: getattr(project, name) for name in names}
    counts = {"session_count": project.run_count, "running_count": project.running_count}
    return {**row, **counts, "editable": project.is_editable}
