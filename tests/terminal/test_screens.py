"""The four screens on a home that the real package made, at three sizes, in a real terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.program import START, Home
from tests.terminal.written import is_restored, strangers

pytestmark = pytest.mark.terminal


def rows_of(text: str, *words: str) -> int:
    """How many lines of the screen hold all the words."""
    return sum(all(word in line for word in words) for line in text.splitlines())


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 60)])
def test_every_screen_is_filled(peer: Home, columns: int, rows: int) -> None:
    with peer.console("--no-scheduler", columns=columns, rows=rows) as terminal:
        terminal.wait_for("implementer", seconds=START)
        terminal.wait_for("70 runs")
        terminal.until(lambda: rows_of(terminal.text, "agent") >= rows // 3, what="rows")
        assert rows_of(terminal.text, "✗ FAIL") >= 2
        terminal.send("2")
        terminal.wait_for("5 plays wait for a person")
        for show in ("atlas-v2", "beacon-ui", "cobalt-cache", "legacy-port", "fresh-idea"):
            assert rows_of(terminal.text, show), show
        assert rows_of(terminal.text, "atlas-v2", "2/9")
        terminal.send("3")
        terminal.wait_for("14 schedules")
        assert rows_of(terminal.text, "nightly-review", "✓✓✓✓✓✓✓✗✗✗")
        terminal.send("4")
        terminal.wait_for("16 definitions")
        assert rows_of(terminal.text, "agent", "reviewer", "v4")
        assert rows_of(terminal.text, "skill", "broken", "line 2")
        terminal.settle()
        assert all(len(line) <= columns for line in terminal.lines)
        terminal.send("ctrl+c", "ctrl+c")
        assert terminal.wait_exit() == 0
    assert strangers(terminal.raw) == set()
    assert is_restored(terminal.raw)


def test_nothing_is_written_by_looking(peer: Home, peer_home: Path) -> None:
    before = peer.contents()
    with peer.console("--no-scheduler") as terminal:
        terminal.wait_for("70 runs", seconds=START)
        for key in "2341":
            terminal.send(key, "enter", "escape")
            terminal.settle(0.2)
        terminal.send("ctrl+c", "ctrl+c")
        assert terminal.wait_exit() == 0
    assert peer.contents() == before


def test_a_run_is_found_opened_and_read_to_its_first_message(peer: Home) -> None:
    longest = "SELECT s.id FROM sessions s JOIN progressions p ON p.id = s.progression_id ORDER BY length(p.collection) DESC"
    peer.sql("UPDATE sessions SET user_label = 'the long one' WHERE id = ?", peer.one(f"{longest} LIMIT 1"))
    with peer.console("--no-scheduler", columns=100, rows=30) as terminal:
        terminal.wait_for("70 runs", seconds=START)
        terminal.send("/", "status:failed")
        terminal.until(lambda: "FAIL" in terminal.text and "✓ OK" not in terminal.text, what="failures only")
        terminal.send("escape")
        terminal.wait_for("✓ OK")
        terminal.send("/", "long one")
        terminal.wait_for("1 match")
        terminal.send("enter", "enter")
        terminal.wait_for("Answer 69")  # the tail first
        assert "Question 0" not in terminal.text
        for _ in range(100):
            if "Question 0" in terminal.text:
                break
            terminal.send("pageup")
            terminal.settle(0.05)
        assert "Question 0" in terminal.text
        terminal.send("F")
        terminal.wait_for("Answer 69")


def test_all_kinds_of_messages_stand_in_their_order(peer: Home) -> None:
    """Calls of tools are folded to a line, with their answers."""
    kinds = "SELECT count(DISTINCT m.lion_class) FROM messages m JOIN json_each(p.collection) e ON e.value = m.id"
    run_id = peer.one(
        "SELECT s.id FROM sessions s JOIN progressions p ON p.id = s.progression_id"
        f" WHERE s.invocation_kind = 'agent' AND ({kinds}) = 5 ORDER BY length(p.collection) DESC LIMIT 1"
    )
    peer.sql("UPDATE sessions SET user_label = 'talkative' WHERE id = ?", run_id)
    with peer.console("--no-scheduler", columns=120, rows=50) as terminal:
        terminal.wait_for("70 runs", seconds=START)
        terminal.send("/", "talkative")
        terminal.wait_for("1 match")
        terminal.send("enter", "enter")
        terminal.wait_for("branches")
        terminal.send("g")
        terminal.wait_for("system")
        terminal.settle()
        said = [line[2:].split()[1] for line in terminal.lines if line[2:10].count(":") == 2]
        assert said[:2] == ["system", "user"]
        assert {"assistant", "tool"} <= set(said)
