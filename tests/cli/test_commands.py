"""The verbs on real stores, in this process: what they print, what they leave, how they end."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from studio_tui.cli.main import run
from tests.cli.one_home import Capture, Cli
from tests.conftest import PEER_NOW


def stored(store: Path) -> list[str]:
    with sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM sessions WHERE node_metadata NOT LIKE '%engine_parent%'")]


class TestRuns:
    def test_a_list_is_one_document_and_its_pages_are_the_store(self, peer: Cli) -> None:
        seen: list[str] = []
        cursor: list[str] = []
        while True:
            page = peer.json("runs", "list", "--limit", "30", *cursor)
            assert set(page) == {"items", "has_next"} | ({"next_cursor"} if page["has_next"] else set())
            seen += [item["run_id"] for item in page["items"]]
            if not page["has_next"]:
                break
            cursor = ["--cursor", page["next_cursor"]]
        assert len(seen) == len(set(seen))
        assert set(seen) == set(stored(peer.home / "state.db"))

    def test_options_and_filter_words_narrow_it_down(self, peer: Cli) -> None:
        by_option = peer.json("runs", "list", "--status", "failed", "--project", "atlas")
        by_words = peer.json("runs", "list", "status:failed", "project:atlas")
        assert by_option == by_words
        assert by_option["items"]
        assert {item["status"] for item in by_option["items"]} == {"failed"}

    def test_wrong_words_are_named_with_what_is_allowed(self, peer: Cli) -> None:
        code, error = peer.refusal("runs", "list", "--status", "broken")
        assert (code, error["code"]) == (2, "validation")
        assert "timed_out" in error["message"]
        assert peer.refusal("runs", "list", "--cursor", "nonsense")[0] == 2

    def test_one_run_by_the_beginning_of_its_id(self, peer: Cli) -> None:
        run_id = peer.json("runs", "list", "--limit", "1")["items"][0]["run_id"]
        assert peer.json("runs", "show", run_id[:12])["run_id"] == run_id
        assert run_id in peer.out("runs", "show", run_id).splitlines()[0]

    def test_an_id_that_fits_several_lists_them(self, peer: Cli) -> None:
        first = next(c for c in "0123456789abcdef" if sum(i.startswith(c) for i in stored(peer.home / "state.db")) > 1)
        code, error = peer.refusal("runs", "show", first)
        assert (code, error["code"]) == (4, "conflict")
        assert "fits several runs" in error["message"]

    def test_one_that_is_not_there(self, peer: Cli) -> None:
        code, error = peer.refusal("runs", "show", "zzz")
        assert code == 3
        assert error == {"code": "not_found", "message": "no run zzz", "resource": "run", "identifier": "zzz"}

    def test_windows_of_a_transcript_join_without_a_gap(self, peer: Cli) -> None:
        labels = json.loads((peer.home / "FIXTURE.json").read_text())
        run_id = next(value for key, value in _flat(labels) if "long" in key and isinstance(value, str))
        newest = peer.json("runs", "messages", run_id, "--limit", "40")
        older = peer.json("runs", "messages", run_id, "--limit", "40", "--before", str(newest["start"]))
        assert len(newest["items"]) == len(older["items"]) == 40
        assert older["end"] <= newest["start"]
        assert not {m["message_id"] for m in newest["items"]} & {m["message_id"] for m in older["items"]}
        assert f"--before {newest['start']}" in peer.out("runs", "messages", run_id, "--limit", "40")


def _flat(value: Any, key: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [pair for name, inner in value.items() for pair in _flat(inner, f"{key}.{name}")]
    return [(key, value)]


class TestReading:
    @pytest.mark.parametrize(
        "arguments",
        [("schedules", "list"), ("shows", "list"), ("definitions", "list"), ("doctor",)],
    )
    def test_every_list_is_items_and_has_next(self, peer: Cli, arguments: tuple[str, ...]) -> None:
        document = peer.json(*arguments)
        assert document["items"]
        assert document["has_next"] is False
        assert len(peer.out(*arguments).splitlines()) == len(document["items"]) + 1

    def test_details(self, peer: Cli) -> None:
        schedule = peer.json("schedules", "list")["items"][0]
        assert peer.json("schedules", "show", schedule["name"])["schedule_id"] == schedule["schedule_id"]
        assert peer.json("schedules", "history", schedule["schedule_id"])["has_next"] is False
        show = peer.json("shows", "show", "atlas-v2")
        assert show["plays"]
        assert "parser" in peer.out("shows", "show", "atlas-v2", "--documents")
        agent = peer.json("definitions", "show", "agent", "reviewer")
        assert agent["content"].startswith("---")
        assert peer.json("definitions", "show", "agent", "reviewer", "--version", "1")["content"]
        assert "VERSION" in peer.out("definitions", "show", "agent", "reviewer")
        assert peer.refusal("shows", "show", "nothing")[0] == 3
        assert peer.refusal("definitions", "show", "agent", "nothing")[0] == 3

    def test_nothing_is_written_by_looking(self, peer: Cli) -> None:
        before = {path: path.stat().st_mtime_ns for path in peer.home.rglob("*") if path.is_file()}
        content = (peer.home / "state.db").read_bytes()
        for noun in ("runs", "schedules", "shows", "definitions"):
            peer.out(noun, "list")
        after = {path: path.stat().st_mtime_ns for path in peer.home.rglob("*") if path.is_file()}
        assert {path for path in after if path.suffix not in (".db-wal", ".db-shm")} >= set(before)
        assert not (peer.home / "studio-tui").exists()
        assert (peer.home / "state.db").read_bytes() == content

    def test_what_data_holds_cannot_act_on_the_terminal(self, peer: Cli, query: Callable[..., Any]) -> None:
        nasty = "a\x1b]52;c;aGk=\x07[red]\u202e\x9b31m"
        query(peer.home / "state.db", "UPDATE sessions SET user_label = ?, updated_at = ?", nasty, PEER_NOW)
        for arguments in (("runs", "list"), ("runs", "list", "--json")):
            said = peer.out(*arguments)
            assert not any(character in said for character in "\x1b\x07\x9b\u202e")
        assert peer.json("runs", "list", "--limit", "1")["items"][0]["name"].startswith("a\x1b]52")


class TestStores:
    def test_where_there_is_none_lists_are_empty_and_nothing_is_made(self, tmp_path: Path, capsys: Capture) -> None:
        cli = Cli(tmp_path / "none", capsys)
        assert cli.out("runs", "list") == "no runs\n"
        assert cli.json("schedules", "list")["items"] == []
        assert not cli.home.exists()

    def test_a_foreign_file_is_refused_and_left_alone(self, tmp_path: Path, capsys: Capture, query: Callable[..., Any]) -> None:
        query(tmp_path / "state.db", "CREATE TABLE bees (name TEXT)")
        before = (tmp_path / "state.db").read_bytes()
        cli = Cli(tmp_path, capsys)
        code, error = cli.refusal("runs", "list")
        assert (code, error["code"]) == (5, "state_unavailable")
        assert "bees" in error["message"]
        assert cli.refusal("init")[0] == 4
        assert (tmp_path / "state.db").read_bytes() == before

    def test_a_second_store_is_not_made(self, own: Cli) -> None:
        assert own.refusal("init")[0] == 4

    def test_a_home_of_ours_need_not_be_asked(self, own: Cli, peer: Cli) -> None:
        assert own.json("scheduler", "status")["state"] == "off"
        assert own.json("scheduler", "status")["reason"] == "no process hosts it now"
        assert peer.json("scheduler", "status")["state"] == "undecided"

    def test_no_password_in_what_is_said(self, capsys: Capture) -> None:
        for address in ("postgresql://op:S3cret@127.0.0.1:1/db", "op:S3cret@host/db", "postgres://op:S3cr%40et@127.0.0.1:1/db"):
            code = run(["--db", address, "runs", "list"])
            said = capsys.readouterr()
            assert code in (2, 5)
            assert "S3cr" not in said.err + said.out


def create(own: Cli, name: str, *command: str, every: str = "1h") -> str:
    made = own.json("schedules", "create", "command", name, "--every", every, "--", *command)
    return str(made["schedule_id"])


class TestSchedules:
    def test_made_switched_and_read_back(self, own: Cli) -> None:
        own.out("schedules", "create", "command", "hello", "--every", "15m", "--description", "says it", "--", "echo", "-n", "hi")
        schedule = own.json("schedules", "show", "hello")
        assert schedule["trigger"] == "every 15 min"
        assert schedule["working_directory"] == os.getcwd()
        assert schedule["command_line"] == ["echo", "-n", "hi"]
        assert own.out("schedules", "disable", "hello", "--reason", "too loud") == "hello is off\n"
        assert own.json("schedules", "show", "hello")["state"] == "OFF"
        enabled = own.json("schedules", "enable", "hel")
        assert enabled["enabled"] is True
        assert enabled["next_fire_at"] > enabled["updated_at"]

    def test_a_name_is_taken_once(self, own: Cli) -> None:
        create(own, "hello", "echo")
        code, _, err = own("schedules", "create", "command", "hello", "--every", "1h", "--", "echo")
        assert (code, err) == (4, "studio-tui: the name hello is taken\n")

    def test_what_may_not_run_is_not_made(self, own: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        code, _, err = own("schedules", "create", "command", "x", "--every", "1h", "--", "rm", "-rf")
        assert code == 2
        assert "LIONAGI_SCHEDULER_COMMAND_ALLOWLIST" in err
        assert own("--read-only", "schedules", "create", "command", "x", "--every", "1h", "--", "echo")[0] == 7
        monkeypatch.setenv("LIONAGI_SCHEDULER_TZ", "Mars/Base")
        assert own("schedules", "list")[0] == 2

    def test_a_flow_must_be_one(self, own: Cli, tmp_path: Path) -> None:
        flow = tmp_path / "flow.yaml"
        for text, fault in (
            ("prompt: [", "is not valid YAML"),
            ("- a", "must be a YAML mapping"),
            ("promt: x", "unknown field 'promt'"),
            ("prompt: x\nworkers: 40", "workers must be a whole number from 1 to 32"),
        ):
            flow.write_text(text)
            code, _, err = own("schedules", "create", "flow", "f", "--every", "1h", "--file", str(flow))
            assert code == 2
            assert fault in err
        flow.write_text("prompt: x\nmax-ops: 3\n")
        assert own("schedules", "create", "flow", "f", "--every", "1h", "--file", str(flow))[0] == 0

    def test_fired_by_hand_and_watched_to_its_end(self, own: Cli, query: Callable[..., Any]) -> None:
        create(own, "hello", "echo", "-n", "hi there")
        code, out, err = own("schedules", "fire", "hello")
        assert code == 0
        assert err.startswith("studio-tui: fired hello as ")
        first, tail = out.splitlines()
        assert first.startswith("OK ")
        assert tail == "hi there"
        firing = own.json("schedules", "history", "hello")["items"][0]
        assert (firing["status"], firing["exit_code"], firing["output_tail"]) == ("completed", 0, "hi there")
        rows = query(own.home / "state.db", "SELECT status, dispatched_at IS NOT NULL, exit_code FROM schedule_runs")
        assert rows == [("completed", 1, 0)]

    def test_a_firing_that_fails_ends_with_1_and_shows_what_it_said(self, own: Cli) -> None:
        create(own, "sad", "sh", "-c", "echo out; echo err >&2; exit 3")
        code, out, _ = own("schedules", "fire", "sad")
        assert code == 1
        assert "exit code 3" in out
        assert {"err", "out"} <= set(out.splitlines())
        code, out, _ = own("schedules", "fire", "sad", "--json")
        assert code == 1
        assert json.loads(out)["state"] == "FAIL"

    def test_what_is_no_longer_allowed_is_not_fired(self, own: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        create(own, "hello", "echo")
        monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", "")
        code, out, err = own("schedules", "fire", "hello")
        assert code == 2
        assert out == ""
        assert "LIONAGI_SCHEDULER_COMMAND_ALLOWLIST" in err


class TestDemo:
    def test_its_home_is_made_and_opens_again_with_its_own_settings(self, tmp_path: Path, capsys: Capture) -> None:
        cli = Cli(tmp_path / "demo", capsys)
        assert run(["demo", "--home", str(cli.home), "--no-open"]) == 0
        assert capsys.readouterr().out == f"the demo's home is {cli.home}\n"
        assert len(cli.json("shows", "list")["items"]) == 5
        code, out, _ = cli("schedules", "fire", "nightly-review")
        assert code == 0
        assert "demo: no agent is started here" in out

    def test_it_takes_no_directory_that_holds_something(self, tmp_path: Path, capsys: Capture) -> None:
        (tmp_path / "file").touch()
        assert run(["demo", "--home", str(tmp_path), "--no-open"]) == 4
        assert "is not an empty directory" in capsys.readouterr().err
        assert [path.name for path in tmp_path.iterdir()] == ["file"]
