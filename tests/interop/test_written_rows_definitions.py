"""Versions of file definitions and workflow definitions, continued by the peer and by us."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.application.errors import Conflict
from studio_tui.application.ports.definition_writes import VersionDraft, WorkflowDraft
from studio_tui.clock import SystemClock
from studio_tui.state.stores.definition_writes import DefinitionVersionStore
from studio_tui.state.stores.definitions import DefinitionStore
from studio_tui.state.stores.workflow_writes import WorkflowWriteStore
from tests.interop.peer_call import ask_peer
from tests.interop.written import our_store

pytestmark = pytest.mark.interop

CONTENT = "---\nprovider: claude_code\nmodel: haiku\n---\nAntworte kürz.\n"
SPEC = {"version": 1, "nodes": [{"id": "n", "kind": "input", "pos": {"x": 0, "y": 0}}], "edges": [], "inputs": [], "outputs": []}

LOOK = """
from pathlib import Path
from lionagi.studio.services import definitions, workflow_defs
seen = await definitions.get_definition("agent", "helper")
first = await definitions.get_version("agent", "helper", 1)
saved = await definitions.save_definition("agent", "helper", ARGUMENTS["content"] + "More.\\n", "by the peer")
rolled = await definitions.rollback_definition("agent", "helper", 1)
workflow = await workflow_defs.get_workflow_def(ARGUMENTS["workflow"])
listed = await workflow_defs.list_workflow_defs()
await workflow_defs.update_workflow_def(ARGUMENTS["workflow"], {"description": "changed there"})
try:
    await workflow_defs.create_workflow_def({"name": "triage"})
    taken = False
except workflow_defs.NameConflictError:
    taken = True
return {"seen": seen, "first": first, "saved": saved, "rolled": rolled, "workflow": workflow, "listed": listed, "taken": taken}
"""


async def test_versions_and_workflows(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "agents").mkdir(parents=True)
    (home / "agents" / "helper.md").write_text(CONTENT)
    async with our_store(home) as db:
        versions, workflows = DefinitionVersionStore(db, SystemClock()), WorkflowWriteStore(db, SystemClock())
        draft = VersionDraft("agent", "helper", "agents/helper.md", CONTENT, "first")
        first = await versions.append_version(draft, expected_version=0)
        workflow = await workflows.create_workflow(WorkflowDraft("triage", "Sortiert.", SPEC))
        answer = ask_peer(home, LOOK, workflow=workflow.workflow_id, content=CONTENT)
        assert (answer["seen"]["version"], answer["seen"]["content"]) == (1, CONTENT)
        assert [row["id"] for row in answer["seen"]["versions"]] == [first.version_id]
        assert (answer["first"]["content"], answer["first"]["created_at"]) == (CONTENT, first.created_at)
        assert (answer["saved"]["version"], answer["rolled"]["version"]) == (2, 3)
        latest = await versions.latest_version("agent", "helper")
        assert latest is not None
        assert (latest.version, latest.content, latest.message) == (3, CONTENT, "rollback to v1")
        assert (await versions.rollback_source("agent", "helper", 2)).message == "by the peer"
        with pytest.raises(Conflict):
            await versions.append_version(draft, expected_version=1)
        assert (await versions.append_version(draft, expected_version=3)).version == 4
        assert (answer["workflow"]["name"], answer["workflow"]["spec_json"]) == ("triage", SPEC)
        assert answer["workflow"]["updated_at"] == workflow.updated_at
        assert (len(answer["listed"]), answer["taken"]) == (1, True)
        assert workflow.updated_at is not None
        with pytest.raises(Conflict):
            await workflows.update_workflow(workflow.workflow_id, {"name": "x"}, expected_updated_at=workflow.updated_at)
        now = await DefinitionStore(db).get_workflow("triage")
        assert now is not None
        assert now.description == "changed there"
        assert now.updated_at is not None
        renamed = await workflows.update_workflow(now.workflow_id, {"name": "sort"}, expected_updated_at=now.updated_at)
        found = ask_peer(
            home,
            "from lionagi.studio.services import workflow_defs\nreturn await workflow_defs.get_workflow_def(ARGUMENTS['id'])",
            id=renamed.workflow_id,
        )
        assert (found["name"], found["description"], found["updated_at"]) == ("sort", "changed there", renamed.updated_at)
