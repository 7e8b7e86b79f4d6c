from __future__ import annotations

from typing import Any

import pytest

from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.launch import (
    LaunchRefused,
    build_argv,
    check_launch,
    flow_text,
    launch_environment,
    rendered_prompt,
    unfilled,
)
from tests.unit.records import a_schedule

LI = ("/opt/lionagi/bin/li",)
MANUAL = {"manual": True, "fired_at": 1_796_041_329.134982}


def action(kind: str, **values: Any) -> ScheduleRecord:
    """A schedule of this action; the values are named without their ``action_``."""
    return a_schedule(action_kind=kind, **{f"action_{name}": value for name, value in {"command": None, **values}.items()})


def argv(schedule: ScheduleRecord, context: dict[str, Any] | None = None, **given: Any) -> tuple[str, ...]:
    return build_argv(schedule, context or {}, li=LI, allowed=lambda: {"sh", "echo"}, **given)


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (action("agent", prompt="hi"), ("agent", "--", "hi")),
        (action("agent", prompt="hi", model="claude"), ("agent", "--", "claude", "hi")),
        (action("agent", prompt="hi", model=""), ("agent", "--", "hi")),
        (
            action("agent", prompt="hi", model="m", agent="critic", project="web", extra_args=("x",)),
            ("agent", "--agent", "critic", "--project", "web", "--", "m", "hi", "x"),
        ),
        (action("agent", prompt="hi", agent="critic"), ("agent", "--agent", "critic", "--", "hi")),
        (action("flow", prompt="hi", model="claude"), ("o", "flow", "--", "claude", "hi")),
        (action("flow", prompt="hi", project="web"), ("o", "flow", "--project", "web", "--", "", "hi")),
        (action("fanout", prompt="hi", model="claude"), ("o", "fanout", "--", "claude", "hi")),
        (action("fanout", prompt="hi", model="m", project="p"), ("o", "fanout", "--project", "p", "--", "m", "hi")),
        (action("play", playbook="demo", prompt="play prompt"), ("play", "demo", "play prompt")),
        (action("play", playbook="demo", project="web"), ("play", "demo")),
        (
            action("play", playbook="demo", playbook_args={"top_k": 5, "dry": True, "wet": False, "name": "a b"}, prompt="go"),
            ("play", "demo", "--top-k", "5", "--dry", "--name", "a b", "go"),
        ),
    ],
)
def test_the_argv_of_each_action(schedule: ScheduleRecord, words: tuple[str, ...]) -> None:
    assert argv(schedule) == (*LI, *words)


def test_the_argv_of_a_flow_file() -> None:
    flow = action("flow_yaml", flow_yaml="steps: []", project="web")
    assert argv(flow, flow_file="/tmp/lionagi-sched-1.yaml") == (
        *(*LI, "o", "flow", "-f", "/tmp/lionagi-sched-1.yaml"),
        *("--project", "web", "--"),
    )
    with pytest.raises(LaunchRefused, match="not written to a file"):
        argv(flow)


def test_the_argv_of_a_command_goes_through_neither_li_nor_a_shell() -> None:
    free = ("-c", "echo out; $(touch /tmp/x)", "--flag", "", "a\nb")
    assert argv(action("command", command="sh", command_args=free)) == ("sh", *free)
    assert argv(action("command", command="sh"), command="/bin/sh") == ("/bin/sh",)


@pytest.mark.parametrize(
    "prompt", ["- fix list", "--yolo", "--help", "-", "@file", "$(touch /tmp/x)", "\nfirst", "`id`", "a'b\"c"]
)
def test_an_awkward_prompt_stands_at_one_place_behind_the_options(prompt: str) -> None:
    for kind in ("agent", "flow", "fanout"):
        words = argv(action(kind, prompt=prompt, model="m"))
        assert words[-3:] == ("--", "m", prompt)
        assert words.count(prompt) == 1


@pytest.mark.parametrize(
    ("schedule", "part"),
    [
        (action("agent", prompt="hi", model="--bypass"), "model: '--bypass' begins with '-'"),
        (action("agent", prompt="hi", agent="-x"), "agent: '-x'"),
        (action("flow", prompt="hi", project="a b"), "project: 'a b'"),
        (action("play", playbook="-rf.yaml"), "playbook: '-rf.yaml'"),
        (action("play", playbook="status"), "verb of `li play`"),
        (action("agent", prompt="hi", model="m", extra_args=("--cwd", "/")), "'--cwd' begins with '-'"),
        (action("agent", prompt="hi", extra_args=("x",)), "extra arguments need a model"),
        (action("flow_yaml", flow_yaml="a: 1", extra_args=("x",)), "takes no extra arguments"),
        (action("play", playbook="demo", playbook_args={"bypass": True}), "option of `li o flow`"),
        (action("play", playbook="demo", prompt="--bypass"), "must not begin with '-'"),
        (action("agent", prompt="--"), "end of the options"),
        (action("agent", prompt="x" * 131_072), "131,072 bytes"),
        (action("agent"), "no prompt"),
        (action("play"), "no playbook"),
        (action("command"), "no command"),
        (action("command", command="/bin/sh"), "is a path"),
        (action("command", command="make"), "LIONAGI_SCHEDULER_COMMAND_ALLOWLIST"),
        (action("command", command="sh", command_args=("a\0",)), "NUL"),
        (action("engine", prompt="x"), "unknown action 'engine'"),
    ],
)
def test_what_must_not_be_passed_on_is_refused(schedule: ScheduleRecord, part: str) -> None:
    with pytest.raises(LaunchRefused) as refused:
        argv(schedule, flow_file="/tmp/f")
    assert part in str(refused.value)
    assert refused.value.reason_code == "run.failed.exception"


def test_the_allow_list_is_asked_afresh_each_time() -> None:
    allowed = {"sh"}
    schedule = action("command", command="sh")
    check_launch(schedule, {}, allowed=lambda: allowed)
    allowed.clear()
    with pytest.raises(LaunchRefused, match="it is empty"):
        check_launch(schedule, {}, allowed=lambda: allowed)
    with pytest.raises(LaunchRefused, match="it is empty"):
        build_argv(schedule, {})


def test_a_command_is_not_handed_the_address_of_the_store() -> None:
    assert launch_environment(action("command", command="sh"), "abc") == (
        {"LIONAGI_INVOCATION_ID": "abc"},
        ("LIONAGI_STATE_DB_URL",),
    )
    assert launch_environment(action("agent", prompt="hi"), "abc") == ({"LIONAGI_INVOCATION_ID": "abc"}, ())


# --- templates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "context", "rendered"),
    [
        ("hi at {{fired_at}} manual={{manual}}", MANUAL, "hi at 1796041329.134982 manual=True"),
        ("{{unknown}} stays", MANUAL, "{{unknown}} stays"),
        ("{{ spaced }} {single}", {"spaced": 1, "single": 2}, "{{ spaced }} {single}"),
        ("{{title}}", {"title": "ours", "github_events": [{"title": "theirs"}]}, "theirs"),
        ("{{title}}", {"title": "ours", "github_events": [{"title": None}]}, "ours"),
        ("{{title}}", {"title": "ours", "github_events": []}, "ours"),
        ("{{title}}", {"title": "{{manual}}", **MANUAL}, "{{manual}}"),
        (r"{{title}}", {"title": r"\1 \g<0>"}, r"\1 \g<0>"),
    ],
)
def test_names_in_a_prompt_are_filled_once(prompt: str, context: dict[str, Any], rendered: str) -> None:
    assert rendered_prompt(action("agent", prompt=prompt), context) == rendered


def test_a_prompt_is_checked_again_once_it_is_filled() -> None:
    for value, part in (("--", "end of the options"), ("x" * 131_072, "131,072 bytes"), ("", "empty once")):
        with pytest.raises(LaunchRefused, match=part):
            argv(action("agent", prompt="{{title}}"), {"title": value})
    with pytest.raises(LaunchRefused, match="must not begin with '-'"):
        argv(action("play", playbook="demo", prompt="{{title}}"), {"title": "--bypass"})


def test_an_action_that_sends_no_prompt_renders_none() -> None:
    for kind in ("command", "flow_yaml"):
        assert rendered_prompt(action(kind, prompt="{{title}}"), {"title": "--"}) is None
    assert rendered_prompt(action("agent"), {}) is None


@pytest.mark.parametrize(
    ("argument", "value", "answer"),
    [
        ("--title={{title}}", "a b", "--title={{title}}"),
        ("{{title}}", "release-1.2", "release-1.2"),
        ("n{{number}}", 7, "n7"),
    ],
)
def test_arguments_of_a_command_are_filled(argument: str, value: object, answer: str) -> None:
    schedule = action("command", command="echo", command_args=(argument,))
    context = {"title": value, "number": value}
    if argument.startswith("-"):  # a filled argument must not be an option, whoever wrote its beginning
        with pytest.raises(LaunchRefused, match="would be an option"):
            argv(schedule, context)
    else:
        assert argv(schedule, context) == ("echo", answer)


@pytest.mark.parametrize(
    ("value", "part"), [("--force", "would be an option"), ("a;b", "other characters"), ("a\n", "other"), ("", "other")]
)
def test_what_comes_from_outside_must_be_harmless_and_is_not_repeated(value: str, part: str) -> None:
    with pytest.raises(LaunchRefused, match=part) as refused:
        argv(action("command", command="echo", command_args=("{{title}}",)), {"title": value})
    assert "{{title}}" in str(refused.value)
    assert not value or value not in str(refused.value)


def test_a_command_argument_without_a_value_is_refused_by_name() -> None:
    schedule = action("command", command="echo", command_args=("{{b}} {{a}}", "{{fired_at}}"))
    with pytest.raises(LaunchRefused, match="no value for a, b"):
        argv(schedule, MANUAL)
    assert unfilled(schedule, MANUAL) == ("a", "b")
    assert unfilled(action("agent", prompt="{{x}} {{manual}} {{x}}"), MANUAL) == ("x",)
    assert unfilled(action("flow_yaml", prompt="{{x}}"), {}) == ()


def test_a_flow_keeps_its_text_and_gets_the_model_of_its_schedule() -> None:
    text = "# nightly\nmodel: old  # pinned\nsteps:\n- id: a\n"
    assert flow_text(action("flow_yaml", flow_yaml=text)) == text
    changed = flow_text(action("flow_yaml", flow_yaml=text, model="new"))
    assert changed == text.replace("old", "new")
    assert flow_text(action("flow_yaml", flow_yaml="steps: []\n", model="new")) == "steps: []\nmodel: new\n"


@pytest.mark.parametrize(
    ("text", "part"), [("a: [", "not valid YAML"), ("- a", "not a YAML mapping"), ("", "not a YAML mapping")]
)
def test_a_flow_that_a_model_cannot_be_put_in_is_refused(text: str, part: str) -> None:
    with pytest.raises(LaunchRefused, match=part):
        flow_text(action("flow_yaml", flow_yaml=text, model="new"))
