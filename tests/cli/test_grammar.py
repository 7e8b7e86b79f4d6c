"""The command line by itself: help, refusals, and what none of it imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from studio_tui import __version__
from studio_tui.cli import session
from studio_tui.cli.main import VERBS, run, studio_tui
from studio_tui.cli.schedules import VERBS as SCHEDULE_VERBS

HEAVY = ("pydantic", "sqlalchemy", "textual", "aiosqlite", "croniter", "ruamel", "watchfiles", "psutil")


def python(*arguments: str, input: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, input=input, timeout=60, env=dict(os.environ))


def imported_by(*arguments: str) -> set[str]:
    code = (
        "import sys\nfrom studio_tui.cli.main import run\n"
        f"run({list(arguments)!r})\n"
        f"print('IMPORTED', *[name for name in {HEAVY!r} if name in sys.modules])"
    )
    return set(python("-c", code).stdout.rpartition("IMPORTED")[2].split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["runs", "list", "--help"],
        ["schedules", "create", "command", "--help"],
        ["scheduler", "run", "--help"],
        ["demo", "--help"],
        ["doctor", "--help"],
    ],
)
def test_help_and_version_import_nothing_heavy(arguments: list[str]) -> None:
    assert imported_by(*arguments) == set()


def test_importing_the_package_loads_nothing_of_it() -> None:
    code = "import sys, studio_tui; print([name for name in sys.modules if name.startswith('studio_tui.')])"
    assert python("-c", code).stdout.strip() == "[]"


def test_the_version() -> None:
    assert python("-m", "studio_tui", "--version").stdout.strip() == f"studio-tui, version {__version__}"


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(studio_tui, list(arguments))


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb: str) -> None:
    result = invoke(verb, "--help")
    assert result.exit_code == 0
    assert "Usage: " in result.output
    assert verb in invoke("--help").output


@pytest.mark.parametrize("verb", SCHEDULE_VERBS)
def test_every_verb_of_schedules_explains_itself(verb: str) -> None:
    assert invoke("schedules", verb, "--help").exit_code == 0


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = run(arguments)
    said = capsys.readouterr()
    assert said.out == ""
    return code, said.err


def test_a_wrong_command_line_is_one_line_and_2(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refusal(capsys, "frobnicate")
    assert (code, said) == (2, "studio-tui: No such command 'frobnicate' (see studio-tui --help)\n")


def test_a_noun_without_its_verb_lists_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refusal(capsys, "outbox")
    assert code == 2
    assert said.startswith("Usage: studio-tui outbox ")
    assert "\n  retry " in said
    code, said = refusal(capsys, "outbox", "--json")
    assert (code, said.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(("schedule", "list"), "did you mean schedules? (see"), (("schedules", "udpate"), "did you mean update? (see")],
)
def test_a_slip_in_a_verb_is_met_with_the_nearest(
    arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = refusal(capsys, *arguments)
    assert code == 2
    assert words in said


def test_the_choices_of_an_argument_stay_on_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refusal(capsys, "definitions", "save")
    assert (code, said.count("\n")) == (2, 1)
    assert "Choose from: agent, playbook, skill (see" in said


def test_with_json_a_refusal_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refusal(capsys, "runs", "list", "--json", "--limit", "0")
    assert code == 2
    assert json.loads(said)["error"]["code"] == "validation"


def test_a_word_of_the_command_to_run_is_not_our_flag(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refusal(capsys, "schedules", "create", "command", "x", "--", "date", "--json")
    assert code == 2
    assert said.startswith("studio-tui: say when: --cron, --every, --at or --github")


class Performed(Exception):
    """Stops a command where it would open a store."""


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What commands would ask of the operations."""
    found: list[object] = []

    class Recorder:
        def __getattr__(self, name: str) -> object:
            return self

        async def create_schedule(self, request: object) -> None:
            found.append(request)
            raise Performed

    def perform(flags: object, work: object) -> None:
        import asyncio

        asyncio.run(work(Recorder()))  # type: ignore[operator]

    monkeypatch.setattr("studio_tui.cli.schedule_create.perform", perform)
    return found


def created(requests: list[object], *arguments: str) -> dict[str, object]:
    result = invoke("schedules", "create", *arguments)
    assert isinstance(result.exception, Performed), result.output
    return requests[-1].model_dump(exclude_defaults=True)  # type: ignore[attr-defined, no-any-return]


class TestCreate:
    def test_a_command_takes_everything_after_the_dashes(self, requests: list[object], tmp_path: Path) -> None:
        made = created(
            requests, "command", "clock", "--every", "1h30m", "--cwd", str(tmp_path), "--missed-fire", "run-once",
            "--overlap", "allow", "--max-runs", "3", "--budget-usd", "2.5", "--disabled", "--", "date", "-u", "--json",
        )  # fmt: skip
        assert made == {
            "name": "clock",
            "trigger": {"seconds": 5400},
            "action": {"kind": "command", "command": "date", "command_args": ("-u", "--json"), "cwd": str(tmp_path)},
            "enabled": False,
            "missed_fire_policy": "run_once",
            "overlap_policy": "allow",
            "max_runs": 3,
            "budget_usd": 2.5,
        }

    def test_an_agent_with_a_prompt_from_a_file(self, requests: list[object], tmp_path: Path) -> None:
        prompt = tmp_path / "prompt"
        prompt.write_text("- fix the list\n--yolo\n", encoding="utf-8")
        made = created(
            requests, "agent", "nightly", "--profile", "reviewer", "--prompt-file", str(prompt), "--project", "web",
            "--cron", "0 2 * * *", "--timezone", "Europe/Berlin", "--once",
        )  # fmt: skip
        assert made["trigger"] == {"expression": "0 2 * * *", "timezone": "Europe/Berlin"}
        action = made["action"]
        assert isinstance(action, dict)
        assert (action["agent"], action["prompt"], action["project"]) == ("reviewer", "- fix the list\n--yolo\n", "web")
        assert made["max_runs"] == 1

    def test_a_flow_from_a_file_and_one_that_is_planned(self, requests: list[object], tmp_path: Path) -> None:
        flow = tmp_path / "flow.yaml"
        flow.write_text("prompt: x\n")
        action = created(requests, "flow", "f", "--file", str(flow), "--every", "1d")["action"]
        assert action == {"kind": "flow_yaml", "flow_yaml": "prompt: x\n", "cwd": os.getcwd()}
        action = created(requests, "flow", "f", "--prompt", "do it", "--model", "m", "--every", "1d")["action"]
        assert action == {"kind": "flow", "prompt": "do it", "model": "m", "cwd": os.getcwd()}

    def test_a_playbook_with_arguments_once_at_an_instant(self, requests: list[object]) -> None:
        made = created(
            requests, "playbook", "p", "--playbook", "release", "--arg", "version=2", "--arg", "note=a=b",
            "--at", "2030-07-15T09:00:00-04:00",
        )  # fmt: skip
        assert made["trigger"] == {"at": 1910350800.0}
        action = made["action"]
        assert isinstance(action, dict)
        assert action["playbook_args"] == {"version": "2", "note": "a=b"}

    @pytest.mark.parametrize(
        ("arguments", "fault"),
        [
            (["command", "x", "--every", "5m"], "end the line with -- and the executable to run"),
            (["command", "x", "--every", "5m", "--at", "2030-01-01T00:00:00Z", "--", "date"], "exclude each other"),
            (["command", "x", "--every", "5m", "--timezone", "UTC", "--", "date"], "--timezone goes with --cron"),
            (["command", "x", "--every", "5", "--", "date"], "has no unit"),
            (["command", "x", "--at", "2030-01-01 00:00", "--", "date"], "is not an instant with its offset"),
            (["command", "x", "--every", "5m", "--once", "--max-runs", "2", "--", "date"], "exclude each other"),
            (["agent", "x", "--every", "5m", "--prompt", "a", "--prompt-file", "/dev/null"], "exclude each other"),
            (["flow", "x", "--every", "5m"], "give either --file or a prompt"),
            (["playbook", "x", "--every", "5m", "--playbook", "p", "--arg", "novalue"], "is not KEY=VALUE"),
            (["playbook", "x", "--every", "5m", "--playbook", "p", "--arg", "a=1", "--arg", "a=2"], "is given twice"),
            (["command", "x", "--every", "5m", "--budget-usd", "-1", "--", "date"], "greater than 0"),
        ],
    )
    def test_what_contradicts_itself_is_refused(
        self, arguments: Sequence[str], fault: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        code, said = refusal(capsys, "schedules", "create", *arguments)
        assert code == 2
        assert fault in said

    def test_an_agent_may_not_make_schedules(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setenv("LIONAGI_AGENT_DEPTH", "1")
        code, said = refusal(capsys, "schedules", "create", "command", "x", "--every", "5m", "--", "date")
        assert code == 7
        assert "LIONAGI_AGENT_DEPTH" in said


class TestWithoutTerminal:
    @pytest.mark.parametrize("verb", [[], ["demo"]])
    def test_the_console_is_refused(self, verb: list[str]) -> None:
        refused = python("-m", "studio_tui", *verb, input="x")
        assert refused.returncode == 2
        assert refused.stdout == ""
        assert refused.stderr.count("\n") == 1
        assert "\x1b" not in refused.stderr


def test_an_unforeseen_fault_is_one_line_and_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def burst(*_: object) -> None:
        raise RuntimeError("postgresql://op:S3cret@host/db")

    monkeypatch.setattr("studio_tui.cli.runs.perform", burst)
    code, said = refusal(capsys, "runs", "list")
    assert code == 1
    assert said == "studio-tui: an unexpected fault (RuntimeError); the log tells more\n"
    assert session.perform is not burst
