"""``schedules validate``, ``apply`` and ``export`` as a person and as a program see them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.application.sets import CLOCK, HEAD, TICK
from tests.cli.test_commands import Capture, Cli

DONE = 0


@pytest.fixture
def cli(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", "date,echo")
    monkeypatch.chdir(tmp_path)
    cli = Cli(tmp_path / "own", capsys)
    cli.out("init")
    return cli


def written(text: str) -> str:
    Path("set.yaml").write_text(text)
    return "set.yaml"


def marks(out: str) -> list[list[str]]:
    """The marks and names of a plan, without its title and its sum."""
    return [line.split()[:2] for line in out.splitlines()[1:-1]]


def test_a_plan_and_what_came_of_it(cli: Cli) -> None:
    out = cli.out("schedules", "apply", "--dry-run", written(HEAD + CLOCK + TICK))
    assert marks(out) == [["+", "atlas/clock"], ["+", "atlas/tick"]]
    assert out.splitlines()[-1].endswith("of atlas/nightly: 2 create; nothing was written")
    out = cli.out("schedules", "apply", "set.yaml")
    assert out.splitlines()[-1] == "applied atlas/nightly: 2 created"
    out = cli.out("schedules", "apply", written(HEAD + CLOCK.replace("15m", "1h") + "    description: new\n"))
    assert marks(out) == [["~", "atlas/clock"], ["-", "atlas/tick"]]
    first, second = out.splitlines()[1:3]
    assert "trigger.every: 900s → 3600s; description: nothing → new" in first
    assert "off" in second
    assert "not in the set any more" in second
    assert out.splitlines()[-1] == "applied atlas/nightly: 1 updated, 1 turned off"
    assert marks(cli.out("schedules", "apply", "set.yaml")) == [["=", "atlas/clock"], ["=", "atlas/tick"]]


def test_the_plan_is_a_document_and_can_be_asked_for_by_its_name(cli: Cli) -> None:
    plan = cli.json("schedules", "apply", "--dry-run", written(HEAD + CLOCK))
    assert [(entry["action"], entry["name"]) for entry in plan["entries"]] == [("create", "atlas/clock")]
    code, error = cli.refusal("schedules", "apply", "--expect", "0" * 16, "set.yaml")
    assert (code, error["code"]) == (4, "conflict")
    assert cli.json("schedules", "apply", "--expect", plan["plan_id"], "set.yaml")["applied"]


def test_what_is_not_the_sets_is_marked_and_the_command_says_so(cli: Cli) -> None:
    cli.out("schedules", "apply", written(HEAD + CLOCK))
    code, out, _ = cli("schedules", "apply", "--dry-run", written(HEAD.replace("nightly", "other") + CLOCK))
    assert (code, marks(out)) == (4, [["!", "atlas/clock"]])
    assert "belongs to the set atlas/nightly" in out
    code, error = cli.refusal("schedules", "apply", "set.yaml")
    assert (code, error["code"]) == (4, "conflict")


def test_faults_are_one_a_line_with_their_places(cli: Cli) -> None:
    file = written(HEAD + CLOCK.replace("every: 15m", "evry: 15m").replace("date", "rm"))
    for verb in ("validate", "apply"):
        code, out, err = cli("schedules", verb, file)
        assert (code, out) == (2, "")
        assert err.splitlines() == [
            "studio-tui: set.yaml:6: schedules.clock.trigger.evry: is no field here; did you mean every? "
            "allowed: cron, every, at, github",
        ]
    code, error = cli.refusal("schedules", "validate", file)
    assert (code, error["code"]) == (2, "validation")
    assert [(fault["path"][-1], fault["code"], fault["line"]) for fault in error["field_errors"]] == [("evry", "unknown", 6)]
    assert cli.refusal("schedules", "validate", "none.yaml")[0] == 3


def test_a_valid_set_says_when_it_fires(cli: Cli) -> None:
    out = cli.out("schedules", "validate", written(HEAD + TICK + CLOCK + "    enabled: no\n"))
    assert out.splitlines()[-1] == "atlas/nightly is valid: 2 schedules"
    assert "09:00" in out
    document = cli.json("schedules", "validate", "set.yaml")
    assert [member["next_fire_at"] is None for member in document["members"]] == [False, True]
    assert len(document["members"][0]["digest"]) == 64


def test_an_export_can_be_applied_again(cli: Cli) -> None:
    cli.out("schedules", "apply", written(HEAD + CLOCK + TICK))
    code, out, err = cli("schedules", "export")
    assert code == DONE
    assert err.splitlines() == ["studio-tui: exported: atlas/clock", "studio-tui: exported: atlas/tick"]
    out = cli.out("schedules", "apply", "--dry-run", written(out))
    assert marks(out) == [["=", "atlas/clock"], ["=", "atlas/tick"]]
    assert cli("schedules", "export", "-")[:2] == cli("schedules", "export")[:2]
    assert not Path("-").exists()
    code, out, _ = cli("schedules", "export", "out.yaml")
    assert (code, out) == (DONE, f"wrote {Path('out.yaml').absolute()}\n")
    assert cli.refusal("schedules", "export", "out.yaml")[0] == 4
    assert cli("schedules", "export", "--force", "out.yaml")[0] == DONE


def test_an_export_is_the_document_whatever_is_in_it(cli: Cli) -> None:
    odd = '    description: "\\e[31mred\\a \\u202egnp.exe \\x85 👍🏽"\n'
    cli.out("schedules", "apply", written(HEAD + CLOCK + odd))
    _, out, _ = cli("schedules", "export")
    assert all(map(str.isprintable, out.splitlines()))
    assert marks(cli.out("schedules", "apply", "--dry-run", written(out))) == [["=", "atlas/clock"]]


def test_an_export_that_left_something_out_ends_with_2(cli: Cli) -> None:
    cli.out(
        "schedules",
        "create",
        "command",
        "chained",
        "--every",
        "1h",
        "--on-fail",
        '{"kind": "play", "playbook": "x", "on_fail": null}',
        "--",
        "date",
    )
    code, out, err = cli("schedules", "export", "--legacy")
    assert (code, out.strip()) == (2, "")
    assert "left out: chained: a set cannot say on_fail" in err


def test_a_store_that_may_not_be_written_is_only_looked_at(cli: Cli) -> None:
    cli.out("schedules", "apply", written(HEAD + CLOCK))
    file = written(HEAD + CLOCK + TICK)
    assert marks(cli.out("--read-only", "schedules", "apply", "--dry-run", file)) == [["=", "atlas/clock"], ["+", "atlas/tick"]]
    assert cli.refusal("--read-only", "schedules", "apply", file)[0] == 7
    assert marks(cli.out("schedules", "apply", "--dry-run", file)) == [["=", "atlas/clock"], ["+", "atlas/tick"]]


def test_an_agent_may_not_apply(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_AGENT_DEPTH", "1")
    assert cli.refusal("schedules", "apply", written(HEAD + CLOCK))[0] == 7
