"""Changing, explaining and deleting schedules on the command line, on a real store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import click
import pytest

from tests.cli.one_home import Cli

Query = Callable[..., Any]


def create(cli: Cli, name: str = "tidy", *options: str) -> dict[str, Any]:
    made: dict[str, Any] = cli.json("schedules", "create", "command", name, "--every", "1h", *options, "--", "echo", "hi")
    return made


def column(cli: Cli, query: Query, name: str, schedule: str = "tidy") -> Any:
    return query(cli.home / "state.db", f"SELECT {name} FROM schedules WHERE name = ?", schedule)[0][0]


def put(cli: Cli, sql: str, *values: object) -> None:
    """Straight into the store, as another writer might."""
    with sqlite3.connect(cli.home / "state.db") as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(sql, values)


class TestCreate:
    def test_every_field_of_a_schedule_has_an_option(self, own: Cli) -> None:
        chain = '{"kind": "agent", "agent": "fixer", "prompt": "mend", "on_fail": null}'
        create(
            own,
            "full",
            *("--rate", "3/1h", "--threshold", "failed_sessions", "gt", "3", "1h", "--max-runs", "5", "--overlap", "allow"),
            *("--missed-fire", "run-once", "--budget-usd", "1.5", "--budget-tokens", "9"),
            *("--on-fail", chain, "--description", "x"),
        )
        made = own.json("schedules", "show", "full")["definition"]
        assert made["rate_limit"] == {"max_fires": 3, "window_sec": 3600}
        assert made["threshold_config"] == {"metric": "failed_sessions", "op": "gt", "value": 3.0, "window_minutes": 60}
        assert (made["max_runs"], made["overlap_policy"], made["missed_fire_policy"]) == (5, "allow", "run_once")
        assert (made["budget_usd"], made["budget_tokens"], made["description"]) == (1.5, 9, "x")
        assert made["action"]["on_fail"] == json.loads(chain)

    def test_a_repository_can_be_stored(self, own: Cli) -> None:
        line = ("--github", "shop/web", "--poll-every", "10m", "--github-filter", '{"event": "pr_merged"}')
        own("schedules", "create", "command", "poll", *line, "--", "echo", "{{pr_number}}")
        made = own.json("schedules", "show", "poll")
        assert made["blocked"] is None
        assert made["definition"]["trigger"] == {
            "kind": "github_poll",
            "repository": "shop/web",
            "poll_interval_seconds": 600,
            "filters": {"event": "pr_merged"},
        }

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--rate", "3"), "is not a number, a slash and a length of time"),
            (("--rate", "0/1h"), "is not a number, a slash"),
            (("--rate", "3/soon"), "is not a length of time"),
            (("--on-fail", "{"), "is not valid JSON"),
            (("--on-fail", "[]"), "is not an object"),
            (("--on-fail", '{"a": 1, "a": 2}'), "a key is given twice"),
            (("--on-fail", '{"budget": NaN}'), "NaN is no number"),
            (("--on-fail", '{"promt": "x"}'), "action.on_fail.promt: is not part of a chain; allowed: kind"),
            (("--on-fail", '{"kind": "play"}'), "action.on_fail.playbook: a play action needs a playbook"),
            (("--threshold", "luck", "gt", "1", "1h"), "metric: Input should be 'failed_sessions'"),
            (("--threshold", "failed_sessions", "gt", "1", "90s"), "has whole minutes"),
            (("--poll-every", "5m"), "--poll-every goes with --github"),
            (("--cron", "0 9 * * *"), "exclude each other"),
        ],
    )
    def test_values_that_are_refused(self, own: Cli, options: tuple[str, ...], words: str) -> None:
        code, out, err = own("schedules", "create", "command", "x", "--every", "1h", *options, "--", "echo")
        assert (code, out) == (2, "")
        assert words in err
        assert err.count("\n") == 1
        assert own.json("schedules", "list")["items"] == []


class TestUpdate:
    def test_only_what_is_named_changes(self, own: Cli, query: Query) -> None:
        made = create(own, "tidy", "--description", "old", "--max-runs", "3")
        result = own.json("schedules", "update", "tidy", "--description", "new", "--overlap", "allow")
        assert (sorted(result["changed"]), result["next_fire_at"]) == (["description", "overlap_policy"], made["next_fire_at"])
        assert result["updated_at"] > made["updated_at"]
        assert column(own, query, "description || max_runs") == "new3"
        assert own.out("schedules", "update", "tidy", "--overlap", "allow").endswith("nothing had to be changed\n")
        assert own.out("schedules", "update", "tidy", "--max-runs", "4").endswith("changed: max_runs\n")

    def test_a_field_is_cleared_by_name(self, own: Cli, query: Query) -> None:
        create(own, "tidy", "--description", "old", "--max-runs", "3", "--rate", "1/1h", "--project", "shop")
        fields = ("--clear", "description", "--clear", "rate", "--clear", "project")
        cleared = own.json("schedules", "update", "tidy", *fields)
        assert sorted(cleared["changed"]) == ["action_project", "description", "project", "rate_limit"]
        assert column(own, query, "max_runs") == 3
        assert column(own, query, "description") is None

    def test_a_new_trigger_counts_from_now(self, own: Cli) -> None:
        made = create(own)
        result = own.json("schedules", "update", "tidy", "--every", "1m")
        assert result["next_fire_at"] < made["next_fire_at"]
        cron = own.json("schedules", "update", "tidy", "--cron", "30 2 * * *", "--timezone", "Australia/Lord_Howe")
        assert set(cron["changed"]) >= {"trigger_type", "cron_expr", "interval_sec", "resolved_timezone"}
        assert own.json("schedules", "update", "tidy", "--timezone", "UTC")["changed"] == ["resolved_timezone", "next_fire_at"]
        assert own.json("schedules", "show", "tidy")["trigger"] == "daily 02:30"

    def test_another_command_line_and_another_kind(self, own: Cli) -> None:
        create(own)
        own.json("schedules", "update", "tidy", "--", "echo", "-n", "other words")
        assert own.json("schedules", "show", "tidy")["command_line"] == ["echo", "-n", "other words"]
        own("schedules", "update", "tidy", "--kind", "agent", "--agent", "fixer", "--prompt", "look")
        action = own.json("schedules", "show", "tidy")["definition"]["action"]
        assert (action["kind"], action["agent"], action["command"], action["command_args"]) == ("agent", "fixer", None, [])

    def test_a_version_that_is_gone_is_a_conflict_with_both_sides(self, own: Cli, query: Query) -> None:
        made = create(own, "tidy", "--max-runs", "3")
        own.json("schedules", "update", "tidy", "--max-runs", "4")
        seen = ("--expected-updated-at", repr(made["updated_at"]))
        code, error = own.refusal("schedules", "update", "tidy", "--max-runs", "5", *seen)
        assert (code, error["code"], error["expected"]) == (4, "conflict", repr(made["updated_at"]))
        assert error["differences"] == {"max_runs": {"yours": 5, "stored": 4}}
        assert column(own, query, "max_runs") == 4

    @pytest.mark.parametrize(
        ("options", "code", "words"),
        [
            ((), 2, "name at least one field to change"),
            (("--name", "other"), 4, "the name other is taken"),
            (("--name", "a/b"), 2, "name: names with / belong to declared sets"),
            (("--cron", "0 0 31 2 *"), 2, "trigger.expression: '0 0 31 2 *' never happens"),
            (("--cron", "@reboot"), 2, "@reboot is not supported; use an interval trigger"),
            (("--cron", "0 9 * * *", "--timezone", "Mars/Base"), 2, "there is no time zone 'Mars/Base'"),
            (("--timezone", "UTC"), 2, "the trigger of tidy has no timezone"),
            (("--at", "2020-01-01T00:00:00Z"), 2, "trigger.at: that instant has passed"),
            (("--every", "1h", "--at", "2099-01-01T00:00:00Z"), 2, "exclude each other"),
            (("--clear", "name"), 2, "is not one of"),
            (("--kind", "engine"), 2, "is not one of"),
            (("--kind", "play"), 2, "action.playbook: a play action needs a playbook"),
            (("--overlap", "queue"), 2, "is not one of"),
            (("--budget-usd", "inf"), 2, "budget_usd"),
            (("--budget-usd", "-1"), 2, "budget_usd"),
            (("--max-runs", "0"), 2, "--max-runs"),
            (("--cwd", "/no/such/place"), 2, "action.cwd: there is no such directory"),
            (("--github-cursor", "yesterday"), 2, "github_cursor: is no bookmark"),
            (("--", "rm", "-rf"), 2, "LIONAGI_SCHEDULER_COMMAND_ALLOWLIST"),
            (("--", "/bin/echo"), 2, "action.command: '/bin/echo' is a path"),
        ],
    )
    def test_changes_that_are_refused_store_nothing(
        self, own: Cli, query: Query, options: tuple[str, ...], code: int, words: str
    ) -> None:
        create(own)
        create(own, "other")
        before = query(own.home / "state.db", "SELECT * FROM schedules")
        answer, out, err = own("schedules", "update", "tidy", *options)
        assert (answer, out) == (code, "")
        assert words in err
        assert query(own.home / "state.db", "SELECT * FROM schedules") == before

    def test_nothing_is_changed_in_a_store_that_is_only_read_or_by_an_agent(
        self, own: Cli, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        create(own)
        assert own("--read-only", "schedules", "update", "tidy", "--max-runs", "2")[0] == 7
        assert own("--read-only", "schedules", "delete", "tidy", "--yes")[0] == 7
        monkeypatch.setenv("LIONAGI_AGENT_DEPTH", "1")
        assert own("schedules", "update", "tidy", "--max-runs", "2")[0] == 7
        assert own("schedules", "delete", "tidy", "--yes")[0] == 7
        assert own("schedules", "why", "tidy")[0] == 0


class TestDelete:
    def test_nothing_is_deleted_before_somebody_says_yes(self, own: Cli, query: Query) -> None:
        create(own)
        own("schedules", "fire", "tidy")
        code, out, err = own("schedules", "delete", "tidy")
        assert (code, out) == (2, "")
        assert "1 recorded firing vanishes with it" in err
        assert "--yes" in err
        assert own("schedules", "delete", "tidy", "--yes")[1] == "tidy is deleted; 1 recorded firing vanishes with it\n"
        assert query(own.home / "state.db", "SELECT count(*) FROM schedule_runs") == [(0,)]
        line = query(own.home / "state.db", "SELECT status, reason_code FROM status_transitions WHERE entity_type = 'schedule'")
        assert line[-1] == ("deleted", "schedule_definition.deleted.observed")
        assert own("schedules", "delete", "tidy", "--yes")[0] == 3

    def test_somebody_at_a_terminal_is_asked(self, own: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        create(own)
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        answers = iter([False, True])
        asked: list[str] = []

        def confirm(text: str, *, abort: bool) -> None:
            asked.append(text)
            if not next(answers):
                raise click.Abort

        monkeypatch.setattr("click.confirm", confirm)
        code, out, _ = own("schedules", "delete", "tidy")
        assert (code, asked) == (130, ["delete it?"])
        assert "no firing is on record" in out
        assert own.json("schedules", "show", "tidy")["name"] == "tidy"
        assert own("schedules", "delete", "tidy")[0] == 0

    def test_what_runs_and_what_is_referred_to_stand_in_the_way(self, own: Cli) -> None:
        schedule_id = create(own)["schedule_id"]
        put(
            own,
            "INSERT INTO schedule_runs (id, schedule_id, trigger_context, action_kind, action_args, status, fired_at, created_at)"
            " VALUES ('f1', ?, '{}', 'command', '[]', 'running', 1.0, 1.0)",
            schedule_id,
        )
        code, error = own.refusal("schedules", "delete", "tidy", "--yes")
        assert (code, error["actual"]) == (4, "f1")
        put(
            own,
            "INSERT INTO dispatch_outbox (id, kind, deliver_to, payload, next_attempt_at, created_at, schedule_run_id)"
            " VALUES ('m1', 'notice', 'ops', '{}', 1.0, 1.0, 'f1')",
        )
        code, error = own.refusal("schedules", "delete", "tidy", "--yes", "--although-running")
        assert code == 4
        assert "1 message of the outbox refers to its firings" in error["message"]
        put(own, "DELETE FROM dispatch_outbox")
        assert own.json("schedules", "delete", "tidy", "--yes", "--although-running")["running"] == ["f1"]


class TestWhy:
    def test_every_gate_is_listed_with_its_evidence(self, own: Cli) -> None:
        create(own, "tidy", "--max-runs", "3", "--rate", "2/1h")
        why = own.json("schedules", "why", "tidy")
        assert [gate["gate"] for gate in why["gates"] if not gate["passed"]] == ["hosted"]
        assert "no process hosts" in why["answer"]
        lines = own.out("schedules", "why", "tidy").splitlines()
        assert lines[0].startswith("tidy: will not fire: no process hosts")
        assert any(line.startswith("ok    rate") and line.endswith("0 of 2 in 3600 s") for line in lines)

    def test_a_firing_that_has_passed_is_answered_from_its_record(self, own: Cli) -> None:
        create(own)
        own("schedules", "fire", "tidy")
        firing = own.json("schedules", "history", "tidy")["items"][0]
        why = own.json("schedules", "why", "tidy", "--firing", firing["firing_id"])
        assert (why["about"], why["fires"], why["firing"]["firing_id"]) == ("past", True, firing["firing_id"])
        at = own.json("schedules", "why", "tidy", "--at", "2020-01-01 00:00")
        assert (at["fires"], at["answer"]) == (None, "nothing is recorded at that time")
        assert "whether it was on then is not recorded" in own.out("schedules", "why", "tidy", "--at", "2020-01-01T00:00:00Z")

    def test_what_cannot_be_asked(self, own: Cli) -> None:
        create(own)
        assert own("schedules", "why", "tidy", "--at", "noon")[0] == 2
        assert own("schedules", "why", "tidy", "--at", "2020-01-01", "--firing", "x")[0] == 2
        assert own("schedules", "why", "tidy", "--firing", "nobody")[0] == 3
        assert own("schedules", "why", "nobody")[0] == 3


class TestNext:
    def test_the_coming_fires_stand_on_three_clocks(self, own: Cli) -> None:
        zone = ("--cron", "30 2 * * *", "--timezone", "Europe/Berlin")
        own("schedules", "create", "command", "daily", *zone, "--", "echo")
        lines = own("schedules", "next", "daily", "-n", "2", "--after", "2027-03-27T12:00:00Z")[1].splitlines()
        assert lines[0] == "daily 02:30 in Europe/Berlin (declared)"
        assert lines[1].split() == ["EUROPE/BERLIN", "HERE", "UTC", "IN", "NOTE"]
        assert lines[2].startswith("Sun 2027-03-28 03:00 CEST")
        assert "2027-03-28 01:00:00" in lines[2]
        assert "does not exist" in lines[2]
        assert lines[3].startswith("Mon 2027-03-29 02:30 CEST")

    def test_twenty_of_them_unless_another_number_is_asked_for(self, own: Cli) -> None:
        create(own)
        fires = own.json("schedules", "next", "tidy")["fires"]
        assert len(fires) == 20
        assert {later["at"] - earlier["at"] for earlier, later in pairwise(fires)} == {3600.0}
        assert own("schedules", "next", "tidy", "-n", "0")[0] == 2
        assert own("schedules", "next", "nobody")[0] == 3

    def test_one_that_is_off_says_so(self, own: Cli) -> None:
        create(own, "tidy", "--disabled")
        assert "it is off" in own("schedules", "next", "tidy", "-n", "1")[2]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ("cron_expr = '', trigger_type = 'cron'", "cron_expr: the expression is empty"),
        ("cron_expr = '0 0 31 2 *', trigger_type = 'cron'", "cron_expr: '0 0 31 2 *' never happens"),
        ("trigger_type = 'at', next_fire_at = NULL", "next_fire_at: it fires once, and no instant is stored"),
        ("trigger_type = 'lunar'", "trigger_type: unknown trigger 'lunar'; known: cron, interval, at, github_poll"),
        ("action_kind = 'engine'", "action_kind: unknown action 'engine'"),
        ("overlap_policy = 'queue'", "overlap_policy: unknown overlap policy 'queue'"),
        ("interval_sec = 0", "interval_sec: an interval of 0"),
        ("interval_sec = 'soon'", "interval_sec: cannot be read"),
        ("on_fail = '{\"promt\": 1}'", "on_fail.promt: is not part of a chain"),
        ("on_fail = '{'", "on_fail: cannot be read"),
        ("rate_limit = '{\"max_fires\": 1}'", "rate_limit: must hold exactly max_fires and window_sec"),
        ("max_runs = 0", "max_runs: 0 cannot be used"),
        ("budget_usd = -1", "budget_usd: -1.0 cannot be used"),
        ("action_command = ' '", "action_command: nothing to run"),
        ("action_command = '/bin/sh'", "action_command: '/bin/sh' is a path"),
    ],
)
def test_what_another_writer_put_into_the_store_is_broken_with_its_column_and_is_not_turned_on(
    own: Cli, values: str, problem: str
) -> None:
    create(own)
    put(own, f"UPDATE schedules SET {values}")
    shown = own.json("schedules", "show", "tidy")
    assert shown["state"] == "BROKEN"
    assert any(found.startswith(problem) for found in shown["problems"]), shown["problems"]
    refusals = {gate["gate"] for gate in own.json("schedules", "why", "tidy")["gates"] if not gate["passed"]}
    assert refusals & {"definition", "due", "launch"}
    put(own, "UPDATE schedules SET enabled = 0")
    code, error = own.refusal("schedules", "enable", "tidy")
    assert code in (2, 4)
    assert error["message"]
