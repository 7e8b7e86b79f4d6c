"""Verbs that change something: what they take, what they refuse, how they end."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from studio_tui.clock import SystemClock
from studio_tui.state.db import StateDB
from studio_tui.state.stores.approvals import ApprovalStore
from tests.builders import a_run
from tests.cli.one_home import Cli


async def _proposed(home: Path) -> str:
    async with StateDB(home / "state.db") as db:
        await a_run(db, id="r1", status="completed")
        return (await ApprovalStore(db, SystemClock()).propose("git.push", {"ref": "main"})).approval_id


class TestDefinitions:
    def test_saved_from_a_file_with_what_was_seen(self, own: Cli, tmp_path: Path) -> None:
        (tmp_path / "text.md").write_bytes(b"\xef\xbb\xbfone\r\n")
        save = ("definitions", "save", "agent", "helper", "--file", str(tmp_path / "text.md"))
        assert own.out(*save, "--expect", "0", "--message", "first") == "agent helper is saved as version 1\n"
        assert (own.home / "agents" / "helper.md").read_bytes() == b"\xef\xbb\xbfone\r\n"
        code, error = own.refusal(*save, "--expect", "0")
        assert (code, error["code"], error["expected"], error["actual"]) == (4, "conflict", "0", "1")
        assert own.json("definitions", "versions", "agent", "helper")["items"][0]["message"] == "first"

    @pytest.mark.parametrize("data", [b"\xff\xfe", b"a\x00b"])
    def test_bytes_that_are_no_text_are_refused(self, own: Cli, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "text.md").write_bytes(data)
        code, error = own.refusal("definitions", "save", "agent", "helper", "--file", str(tmp_path / "text.md"))
        assert (code, error["code"]) == (2, "validation")
        assert not (own.home / "agents").exists()

    def test_a_text_that_nobody_gave_does_not_empty_the_file(self, own: Cli, tmp_path: Path) -> None:
        (own.home / "agents").mkdir()
        (own.home / "agents" / "helper.md").write_text("as it was")
        (tmp_path / "text.md").write_text(" \n")
        code, error = own.refusal("definitions", "save", "agent", "helper", "--file", str(tmp_path / "text.md"))
        assert (code, error["message"]) == (2, "content: the text is empty; nothing was saved")
        assert (own.home / "agents" / "helper.md").read_text() == "as it was"

    @pytest.mark.parametrize("name", ["../escape", "/etc/x", ".."])
    def test_a_name_that_leaves_the_root_is_refused(self, own: Cli, tmp_path: Path, name: str) -> None:
        (tmp_path / "text.md").write_text("x")
        code, error = own.refusal("definitions", "save", "agent", name, "--file", str(tmp_path / "text.md"))
        assert (code, error["code"]) == (2, "validation")

    def test_settling_needs_a_choice_and_a_record(self, own: Cli) -> None:
        assert own.out("definitions", "reconcile") == "nothing is half done\n"
        assert own("definitions", "reconcile", "abc")[0] == 2
        assert own.refusal("definitions", "reconcile", "abc", "--leave")[0] == 3


class TestApprovals:
    def test_an_agent_grants_nothing_not_even_its_own_wish(self, own: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        approval_id = asyncio.run(_proposed(own.home))
        monkeypatch.setenv("LIONAGI_AGENT_DEPTH", "1")
        for act in ("grant", "deny"):
            code, error = own.refusal("approvals", act, approval_id)
            assert (code, error["code"]) == (7, "permission_denied")
        assert own.json("approvals", "show", approval_id)["status"] == "pending"
        monkeypatch.delenv("LIONAGI_AGENT_DEPTH")
        assert own.json("approvals", "grant", approval_id)["status"] == "granted"
        assert own.refusal("approvals", "grant", approval_id)[0] == 4

    def test_a_ledger_that_does_not_hold_ends_with_1(self, own: Cli, query: object) -> None:
        asyncio.run(_proposed(own.home))
        assert own.out("approvals", "verify") == "1 lines, all in order\n"
        query(own.home / "state.db", "UPDATE approval_evidence SET action_kind = 'x'")  # type: ignore[operator]
        code, out, _ = own("approvals", "verify", "--json")
        assert (code, json.loads(out)["valid"]) == (1, False)


class TestRuns:
    def test_a_run_that_has_ended_hears_nothing(self, own: Cli) -> None:
        asyncio.run(_proposed(own.home))
        code, error = own.refusal("evidence", "send", "r1", "message", "hello")
        assert (code, error["code"]) == (4, "conflict")
        assert own.refusal("evidence", "send", "gone", "pause")[0] == 3

    def test_a_label_is_changed_by_who_saw_it(self, own: Cli) -> None:
        asyncio.run(_proposed(own.home))
        assert own.out("tags", "label", "r1", "mine") == "r1 is called mine\n"
        assert own.refusal("tags", "label", "r1", "theirs")[0] == 4
        assert own.out("tags", "label", "r1", "--was", "mine") == "r1 has no label\n"


def test_a_read_only_start_changes_nothing(own: Cli, tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("x")
    for verb in (
        ("projects", "create", "web"),
        ("definitions", "save", "agent", "helper", "--file", str(tmp_path / "text.md")),
        ("workflows", "create", "walk"),
        ("attention", "decide", "run:r1", "resolved", "--status", "failed"),
        ("state", "vacuum"),
    ):
        assert own.refusal("--read-only", *verb)[0] == 7, verb
