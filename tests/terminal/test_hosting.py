"""Who fires: the question on a foreign home, missed fires, a schedule made and seen to fire, and a second console."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from tests.terminal.program import START, Home, answer, until

pytestmark = pytest.mark.terminal

QUESTION = "may this console fire this home's schedules?"


def due(home: Home, name: str, seconds_ago: float, policy: str = "skip") -> None:
    """A schedule of a peer's home that is on and whose instant has passed."""
    home.sql(
        "UPDATE schedules SET enabled = 1, next_fire_at = ?, missed_fire_policy = ?, trigger_type = 'interval',"
        " interval_sec = 3600, action_kind = 'command', action_command = 'echo', action_command_args = '[]', action_cwd = ?,"
        " threshold_config = NULL, cron_expr = NULL, budget_usd = NULL WHERE name = ?",
        time.time() - seconds_ago,
        policy,
        str(home.path),
        name,
    )


def test_a_foreign_home_asks_and_nothing_fires_before_the_answer(peer: Home) -> None:
    """Not now is asked again at the next start; no is kept, and the third start does not ask."""
    due(peer, "overdue-poll", 600)
    before = peer.sql("SELECT * FROM schedule_runs ORDER BY id"), peer.sql("SELECT * FROM schedules ORDER BY id")
    with peer.console() as terminal:
        terminal.wait_for(QUESTION, seconds=START)
        terminal.wait_for("host asks")
        terminal.settle(1.2)
        terminal.send("escape")
        terminal.wait_gone(QUESTION)
        terminal.send("ctrl+c", "ctrl+c")
        assert terminal.wait_exit() == 0
    assert not (peer.path / "studio-tui" / "sidecar.db").exists()
    with peer.console() as terminal:
        terminal.wait_for(QUESTION, seconds=START)
        answer(terminal, "up", "enter")
        terminal.wait_for("host off")
        terminal.send("ctrl+c", "ctrl+c")
        assert terminal.wait_exit() == 0
    with peer.console() as terminal:
        terminal.wait_for("host off", seconds=START)
        terminal.settle(1.2)
        assert QUESTION not in terminal.text
    assert before == (peer.sql("SELECT * FROM schedule_runs ORDER BY id"), peer.sql("SELECT * FROM schedules ORDER BY id"))


def test_missed_fires_are_shown_before_they_are_made_up_for(peer: Home) -> None:
    """Yes is kept; then the missed instants are listed with what their policies mean, and wait for a word."""
    due(peer, "overdue-poll", 5_000)
    due(peer, "refresh-index", 4_000, "run_once")
    count = "SELECT count(*) FROM schedule_runs WHERE fired_at > ?"
    begun = time.time()
    with peer.console() as terminal:
        terminal.wait_for(QUESTION, seconds=START)
        answer(terminal, "down", "enter")
        terminal.wait_for("2 missed fires")
        terminal.wait_for("refresh-index  will run once")
        assert "overdue-poll  will be skipped" in terminal.text
        assert peer.one(count, begun) == 0
        terminal.send("escape")
        terminal.wait_gone("2 missed fires")
        terminal.wait_for("○ 2 missed")  # the header goes on saying so
        terminal.send("ctrl+c", "ctrl+c")
        assert terminal.wait_exit() == 0
    assert peer.one(count, begun) == 0
    with peer.console() as terminal:  # the answer was kept: it hosts, and asks about the missed fires at once
        terminal.wait_for("2 missed fires", seconds=START)
        answer(terminal, "down")
        terminal.until(lambda: any("▌ apply policies" in line for line in terminal.lines), what="the highlight")
        terminal.send("enter")
        terminal.wait_for("● host")
        until(lambda: [row for row in peer.firings("refresh-index", "completed") if row["fired_at"] > begun], "the make-up fire")
    (made_up,) = [row for row in peer.firings("refresh-index") if row["fired_at"] > begun]
    assert json.loads(made_up["trigger_context"])["missed_recovery"] is True
    (passed,) = [row for row in peer.firings("overdue-poll") if row["fired_at"] > begun]
    assert (passed["status"], passed["status_reason_code"]) == ("skipped", "schedule.skipped.missed_fire")


def test_a_schedule_of_the_command_line_is_seen_to_fire(own: Home) -> None:
    own.every(2, "tick", "sh", "-c", "echo out of $0; sleep 0.7; exit 3", "tick")
    with own.console("--scheduler") as terminal:
        terminal.wait_for("● host", seconds=START)
        terminal.send("3")
        terminal.wait_for("every 2 s")
        terminal.wait_for("1 running")
        terminal.wait_for("failing")
        terminal.send("enter")
        terminal.wait_for("✗ FAIL")
        terminal.wait_for("● RUN")
        terminal.wait_for("output")
        terminal.wait_for("out of tick")
        terminal.send("G")
        terminal.wait_for("exit 3")
        until(lambda: len(own.firings("tick", "failed")) >= 3, "three firings")
    rows = own.firings("tick", "failed")
    assert all(row["exit_code"] == 3 and "out of tick" in row["error_detail"] for row in rows)
    late = [row["fired_at"] - json.loads(row["trigger_context"])["next_fire_at"] for row in rows]
    print(f"fired late by {[round(seconds * 1e3) for seconds in late]} ms")
    assert all(0 <= seconds < 2 for seconds in late)


def test_a_schedule_of_the_form_is_seen_to_fire(own: Home) -> None:
    with own.console("--scheduler", rows=40) as terminal:
        terminal.wait_for("● host", seconds=START)
        terminal.send("3")
        terminal.wait_for("no schedules")
        terminal.send("n")
        terminal.wait_for("new schedule")
        answer(terminal, "from-form", "tab", "tab", "1s", "tab", "tab", "echo 'made by hand'", "tab", str(own.path))
        terminal.wait_for("every 1 s")
        terminal.send("ctrl+s")
        terminal.wait_for("from-form was made")
        terminal.wait_for("✓")
        terminal.send("enter")
        terminal.wait_for("made by hand")
    row = own.firings("from-form", "completed")[0]
    assert (row["exit_code"], json.loads(row["action_args"])) == (0, ["echo", "made by hand"])


def test_the_second_console_names_the_first_and_takes_over(own: Home) -> None:
    own.every(1, "often", "echo", "hi")
    with own.console("--scheduler") as first:
        first.wait_for("● host", seconds=START)
        until(lambda: own.firings("often", "completed"), "a firing of the first")
        with own.console("--scheduler", columns=160) as second:
            second.wait_for("standby", seconds=START)
            second.wait_for(f"pid {first.pid}")
            second.send("3")
            second.wait_for("standing by")
            assert f"pid {first.pid}" in second.text
            first.signal(signal.SIGKILL)
            first.until(lambda: not first.alive(), what="the end of the first")
            killed = time.time()
            taken = second.wait_for("firing here")
            until(lambda: own.firings("often", "completed")[-1]["fired_at"] > killed, "a firing of the second")
            second.send("ctrl+c", "ctrl+c")
            assert second.wait_exit() == 0
    print(f"the second console hosted {taken:.2f} s after the first was killed")
    assert_fired_once_each(own, "often")


def test_a_host_without_a_screen_takes_over_from_a_console_and_back(own: Home) -> None:
    own.every(1, "often", "echo", "hi")
    with own.console("--scheduler") as console:
        console.wait_for("● host", seconds=START)
        with own.host() as host:
            assert host.stdout is not None
            said = iter(host.stdout.readline, "")
            assert f"pid {console.pid}" in next(line for line in said if "standby" in line)
            console.signal(signal.SIGKILL)
            assert any("hosting the scheduler of this store" in line for line in said)
            killed = time.time()
            until(lambda: own.firings("often", "completed")[-1]["fired_at"] > killed, "a firing of the host")
            with own.console("--scheduler", columns=160) as second:
                second.wait_for("standby on ", seconds=START)
                second.wait_for(f"pid {host.pid}")
                os.kill(host.pid, signal.SIGKILL)
                second.wait_for("● host")
                killed = time.time()
                until(lambda: own.firings("often", "completed")[-1]["fired_at"] > killed, "a firing of the console")
    assert_fired_once_each(own, "often")


def assert_fired_once_each(home: Home, name: str) -> None:
    """No instant was launched twice. (A host that is killed in the middle of a firing leaves it to the next one to say so.)"""
    launched = [row for row in home.firings(name) if row["dispatched_at"]]
    instants = [json.loads(row["trigger_context"])["next_fire_at"] for row in launched]
    assert len(instants) == len(set(instants)) >= 2, instants
