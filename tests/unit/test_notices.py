"""What a schedule's notify command may be, and what it is told."""

from __future__ import annotations

import pytest

from studio_tui.domain.notices import CommandRefused, Notice, argv_of, envelope, wanted


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("tell --to 'a | b' \"$HOME\"", ("tell", "--to", "a | b", "$HOME")),
        ("tell \\ x 100% # no", ("tell", " x", "100%", "#", "no")),
        ("tell $1 $$", ("tell", "$1", "$$")),
    ],
)
def test_a_command_is_split_and_nothing_in_it_is_looked_up(command: str, argv: tuple[str, ...]) -> None:
    assert argv_of(command) == argv


@pytest.mark.parametrize("command", ["a | b", "a && b", "a; b", "a > f", "a < f", "a `b`", "a $(b)", "a ${B}", "a $B", "a & b"])
def test_what_wants_a_shell_is_refused(command: str) -> None:
    with pytest.raises(CommandRefused, match="wants a shell"):
        argv_of(command)


@pytest.mark.parametrize(("command", "why"), [("", "empty"), ("  ", "empty"), ("a 'b", "quotes cannot be read")])
def test_what_is_no_command_is_refused(command: str, why: str) -> None:
    with pytest.raises(CommandRefused, match=why):
        argv_of(command)


def test_which_ends_are_wanted() -> None:
    assert wanted("failed", ("failed", "timed_out"), "tell")
    assert not wanted("completed", ("failed", "timed_out"), "tell")
    assert not wanted("failed", ("failed",), None)
    assert not wanted("failed", ("failed",), "")


def test_a_launch_that_was_refused_names_the_firing() -> None:
    told = envelope(Notice("t", "schedule_run", "f", "failed", "failed", "run.failed.exception", 5.0, 9.0))
    assert told["entity"] == {"kind": "schedule_run", "id": "f"}
    assert told["correlation"] == {"invocation_id": None, "session_id": None, "schedule_run_id": "f", "run_id": None}
