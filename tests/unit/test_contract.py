from __future__ import annotations

import pytest

from studio_tui.scheduler import contract


@pytest.mark.parametrize("value", ["gpt-5", "openai/gpt-4.1:mini", "a@b", "x_1", "2024.09"])
def test_names_that_are_fine(value: str) -> None:
    assert contract.identifier_fault(value) is None


@pytest.mark.parametrize("value", ["--bypass", "-x", "", "a b", "a\n", "ünï", "a;b", "$(x)", "a,b", "a\0"])
def test_names_that_are_not(value: str) -> None:
    fault = contract.identifier_fault(value)
    assert fault is not None
    assert "letters, digits" in fault


@pytest.mark.parametrize("value", ["list", "check", "status"])
def test_a_playbook_cannot_be_a_verb_of_li_play(value: str) -> None:
    assert "verb of `li play`" in (contract.playbook_fault(value) or "")
    assert contract.playbook_fault(f"{value}s") is None


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("", "a command is wanted"),
        ("/bin/sh", "is a path"),
        ("a\\b", "is a path"),
        ("..", None),
        ("-rf.yaml", "begins with '-'"),
        ("sh -c", "other characters"),
        ("sh\n", "other characters"),
        ("a:b", "other characters"),
        ("python3.11", None),
        ("my_tool-2", None),
    ],
)
def test_a_command_is_a_bare_name(value: str, part: str | None) -> None:
    fault = contract.command_fault(value)
    assert (fault is None) if part is None else (part in (fault or ""))


@pytest.mark.parametrize(
    ("setting", "names"),
    [(None, set()), ("", set()), (" , ,", set()), ("sh, true ,echo", {"sh", "true", "echo"}), ("*", {"*"})],
)
def test_the_allow_list_is_split_at_commas_and_knows_no_wildcards(setting: str | None, names: set[str]) -> None:
    allowed = contract.allowlist(setting)
    assert allowed == names
    assert (contract.allowlist_fault("true", allowed) is None) is ("true" in names)


def test_a_command_that_is_not_allowed_is_told_how_to_allow_it() -> None:
    assert "it is empty, so no command may run" in (contract.allowlist_fault("make", frozenset()) or "")
    fault = contract.allowlist_fault("make", frozenset({"sh"})) or ""
    assert "it lists sh" in fault
    assert fault.endswith("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST=make,sh")
    assert contract.allowlist_fault("SH", frozenset({"sh"})) is not None


@pytest.mark.parametrize("prompt", ["- fix list", "--yolo", "--help", "-", "@file", "$(touch /tmp/x)", "\nfirst", "x" * 131_071])
def test_a_prompt_may_be_anything_that_can_be_passed_on(prompt: str) -> None:
    assert contract.prompt_fault(prompt) is None


@pytest.mark.parametrize(
    ("prompt", "part"),
    [
        ("--", "end of the options"),
        ("x" * 131_072, "131,072 bytes; allowed: at most 131,071"),
        ("x" * 300_000, "300,000 characters; allowed: at most 262,144"),
        ("é" * 65_536, "131,072 bytes"),
        ("x" * 131_068 + "\U0001f600", "131,072 bytes"),
        ("a\0b", "NUL"),
        ("\ud800", "half a surrogate"),
    ],
)
def test_a_prompt_that_cannot_be_passed_on_is_refused_with_the_limit(prompt: str, part: str) -> None:
    assert part in (contract.prompt_fault(prompt) or "")


def test_the_last_letter_of_four_bytes_just_fits() -> None:
    assert contract.prompt_fault("x" * 131_067 + "\U0001f600") is None


def test_the_prompt_of_a_play_has_no_end_of_options_before_it() -> None:
    assert "must not begin with '-'" in (contract.prompt_fault("- list", play=True) or "")
    assert contract.prompt_fault("list - ", play=True) is None


@pytest.mark.parametrize(
    ("kind", "model", "playbook", "extra", "part"),
    [
        ("agent", "gpt", None, (), None),
        ("agent", "gpt", None, ("x",), None),
        ("agent", "gpt", None, ("--cwd", "/"), "'--cwd' begins with '-'"),
        ("agent", None, None, ("x",), "extra arguments need a model"),
        ("agent", "", None, ("x",), "extra arguments need a model"),
        ("flow", None, None, ("x",), None),
        ("flow_yaml", None, None, ("x",), "takes no extra arguments"),
        ("command", None, None, ("x",), "takes no extra arguments"),
        ("play", None, None, ("status",), "verb of `li play`"),
        ("play", None, "demo", ("status",), None),
        ("flow", None, None, ("a\0",), "NUL"),
    ],
)
def test_extra_arguments(kind: str, model: str | None, playbook: str | None, extra: tuple[str, ...], part: str | None) -> None:
    fault = contract.extra_args_fault(kind, model, playbook, extra)
    assert (fault is None) if part is None else (part in (fault or ""))


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ({}, None),
        ({"topic": "tides", "depth": -5, "share": 0.5, "fast_mode": True}, None),
        ({"1st": "x"}, "is no name"),
        ({"a b": "x"}, "is no name"),
        ({"": "x"}, "is no name"),
        ({"bypass": True}, "option of `li o flow`"),
        ({"max_ops": 3}, "option of `li o flow`"),
        ({"topic": ["a"]}, "must be a text, a number or true/false"),
        ({"topic": None}, "must be a text"),
        ({"topic": "--bypass"}, "begins with '-'"),
        ({"topic": "a\0"}, "NUL"),
    ],
)
def test_arguments_of_a_playbook(values: dict[str, object], part: str | None) -> None:
    fault = contract.playbook_args_fault(values)
    assert (fault is None) if part is None else (part in (fault or ""))
