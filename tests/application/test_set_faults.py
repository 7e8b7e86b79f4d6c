"""What is wrong with a document: every fault at once, with line, path, code and what is allowed; and nothing is stored."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from studio_tui.application.errors import ValidationFailure
from tests.application.home import OpenHome
from tests.application.sets import CLOCK, HEAD, Sets


@pytest.fixture
def sets(home: OpenHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sets:
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", "date")
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").touch()
    (tmp_path / "outside.yaml").write_text("prompt: x\n")
    (folder / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    (folder / "flow.yaml").write_text("prompt: x\nspeed: 9\n")
    (folder / "latin.yaml").write_bytes(b"prompt: caf\xe9\n")
    return Sets(home, folder)


def member(trigger: str = "{every: 15m}", target: str = "{kind: command, executable: date}", more: str = "") -> str:
    return f"{HEAD}  clock:\n    trigger: {trigger}\n    target: {target}\n{more}"


FLOW = "{{kind: flow, file: {}}}".format
AGENT = "{{kind: agent, profile: {}, prompt: go}}".format

CASES: dict[str, tuple[str | bytes, int | None, str, str, str]] = {
    # text, line, path, code, a part of the message
    "a key twice": (HEAD + CLOCK + CLOCK, 8, "schedules.clock", "repeated", "first in line 5"),
    "a nested key twice": (
        member(more="    enabled: on\n    enabled: off\n"),
        9,
        "schedules.clock.enabled",
        "repeated",
        "keep one",
    ),
    "a tab": (HEAD + "  clock:\n\ttrigger: 1\n", 6, "", "not_yaml", "spaces, not tabs"),
    "a colon": (HEAD + "  clock: a: b\n", 5, "", "not_yaml", "needs quotes"),
    "a NUL": (member(more='    description: "a\\0b"\n'), 8, "schedules.clock.description", "unreadable", "NUL"),
    "half a character": (member(more='    description: "\\ud83d"\n'), 8, "schedules.clock.description", "unreadable", "half"),
    "a directive": ("# x\n%YAML 1.2\n---\n" + HEAD + CLOCK, 2, "", "not_yaml", "begins with %"),
    "two documents": (HEAD + CLOCK + "---\n" + HEAD, 8, "", "not_yaml", "only one document"),
    "not UTF-8": (HEAD.encode() + b"  caf\xe9: 1\n", 5, "", "not_text", "0xe9"),
    "too long": (HEAD + "#" * 1_048_576, None, "", "too_large", "1,048,576"),
    "nothing": ("# only this\n", 1, "", "empty", "nothing in it"),
    "a list": ("- 1\n", 1, "", "not_a_mapping", "mapping"),
    "a bomb": (
        "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))
        + HEAD,
        None,
        "",
        "too_large",
        "aliases",
    ),
    "a loop": ("a: &a [*a]\n", 1, "", "too_large", "levels"),
    "too deep": ("a: " + "[" * 1_000, None, "", "too_deep", "levels"),
    "a tag": (
        member(more="    description: !!python/name:os.system ''\n"),
        8,
        "schedules.clock.description",
        "unreadable",
        "tag",
    ),
    "another key": (member(more="    yes: 1\n"), 8, "schedules.clock.yes", "unknown", "allowed: description, enabled"),
    "a tagged key": (member(more="    !!bool on: 1\n"), 8, "schedules.clock", "not_a_key", "bool 'on'"),
    "a number as key": (HEAD + "  7:\n    x: 1\n", 5, "schedules", "not_a_key", "quotes"),
    "a misspelt field": (member(more="    polices: {}\n"), 8, "schedules.clock.polices", "unknown", "did you mean policies?"),
    "a misspelt target field": (
        member(target="{kind: command, executable: date, arg: [x]}"),
        7,
        "schedules.clock.target.arg",
        "unknown",
        "mean args?",
    ),
    "no such target": (member(target="{kind: comand}"), 7, "schedules.clock.target.kind", "unknown", "agent, flow, playbook"),
    "no target": (HEAD + "  clock:\n    trigger: {every: 1h}\n", 5, "schedules.clock.target", "missing", "required"),
    "another version": (member().replace("v1alpha1", "v2"), 1, "apiVersion", "unknown", "v1alpha1"),
    "two triggers": (member("{every: 1h, at: '2030-01-01T00:00:00Z'}"), 6, "schedules.clock.trigger", "invalid", "every and at"),
    "no trigger": (member("{}"), 6, "schedules.clock.trigger", "invalid", "none"),
    "a date without quotes": (member("{at: 2030-01-01T00:00:00Z}"), 6, "schedules.clock.trigger.at", "unreadable", "quotes"),
    "a time without offset": (member("{at: '2030-01-01T00:00:00'}"), 6, "schedules.clock.trigger.at", "invalid", "offset"),
    "too long an interval": (member("{every: 31d}"), 6, "schedules.clock.trigger.every", "invalid", "30d"),
    "a bare number": (member("{every: 90}"), 6, "schedules.clock.trigger.every", "not_text", "quotes"),
    "no such zone": (
        member("{cron: {expression: '0 9 * * *', timezone: Mars/Base}}"),
        6,
        "schedules.clock.trigger.cron.timezone",
        "invalid",
        "Europe/Berlin",
    ),
    "no such minute": (
        member("{cron: {expression: '61 * * * *', timezone: UTC}}"),
        6,
        "schedules.clock.trigger.cron.expression",
        "invalid",
        "61",
    ),
    "never": (
        member("{cron: {expression: '0 0 30 2 *', timezone: UTC}}"),
        6,
        "schedules.clock.trigger.cron.expression",
        "invalid",
        "30",
    ),
    "never again": (
        member("{cron: {expression: '0 9 1 12 * 0 2020', timezone: UTC}}"),
        6,
        "schedules.clock.trigger",
        "finished",
        "no fire",
    ),
    "no repository": (member("{github: {repo: cat}}"), 6, "schedules.clock.trigger.github.repo", "unusable", "owner/name"),
    "no such filter": (
        member("{github: {repo: a/b, filter: {stat: x}}}"),
        6,
        "schedules.clock.trigger.github.filter.stat",
        "unknown",
        "state",
    ),
    "not allowed here": (
        member(target="{kind: command, executable: rm}"),
        7,
        "schedules.clock.target.executable",
        "not_allowed",
        "ALLOWLIST",
    ),
    "no text": (
        member(target="{kind: command, executable: date, args: [1]}"),
        7,
        "schedules.clock.target.args.0",
        "not_text",
        "text",
    ),
    "no such profile": (member(target=AGENT("nobody")), 7, "schedules.clock.target.profile", "missing", "nobody"),
    "a path as profile": (member(target=AGENT("../x")), 7, "schedules.clock.target.profile", "not_supported", "plugin"),
    "a flow outside": (member(target=FLOW("../outside.yaml")), 7, "schedules.clock.target.file", "outside", "project of the set"),
    "a link outside": (member(target=FLOW("link.yaml")), 7, "schedules.clock.target.file", "outside", "link.yaml"),
    "a flow of the system": (member(target=FLOW("/etc/passwd")), 7, "schedules.clock.target.file", "outside", "/etc/passwd"),
    "no flow": (member(target=FLOW("none.yaml")), 7, "schedules.clock.target.file", "missing", "none.yaml"),
    "a faulty flow": (member(target=FLOW("flow.yaml")), 7, "schedules.clock.target.file", "unusable", "speed"),
    "a flow that is no text": (member(target=FLOW("latin.yaml")), 7, "schedules.clock.target.file", "not_text", "0xe9"),
    "a verb as playbook": (
        member(target="{kind: playbook, name: list}"),
        7,
        "schedules.clock.target.name",
        "unusable",
        "li play",
    ),
    "no number": (
        member(target="{kind: playbook, name: x, args: {a: .nan}}"),
        7,
        "schedules.clock.target.args.a",
        "not_an_amount",
        "finite",
    ),
    "no such directory": (
        member(more="    execution: {cwd: none}\n"),
        8,
        "schedules.clock.execution.cwd",
        "no_directory",
        "directory",
    ),
    "no count": (member(more="    policies: {maxRuns: 0}\n"), 8, "schedules.clock.policies.maxRuns", "not_a_count", "at least 1"),
    "no amount": (
        member(more="    policies: {budget: {usd: -1}}\n"),
        8,
        "schedules.clock.policies.budget.usd",
        "not_an_amount",
        "0",
    ),
    "half a rate": (
        member(more="    policies: {rateLimit: {max_fires: 1}}\n"),
        8,
        "schedules.clock.policies.rateLimit.window_sec",
        "missing",
        "is",
    ),
    "no such status": (
        member(more="    notify: {on: [broken], command: x}\n"),
        8,
        "schedules.clock.notify.on.0",
        "unknown",
        "'timed_out'",
    ),
    "no status": (member(more="    notify: {on: [], command: x}\n"), 8, "schedules.clock.notify", "invalid", "at least one"),
    "a switch in quotes": (member(more="    enabled: 'no'\n"), 8, "schedules.clock.enabled", "not_a_switch", "true or false"),
    "a global one without a place": (
        member().replace("project: atlas", "project: atlas, scope: global"),
        5,
        "schedules.clock.execution.cwd",
        "missing",
        "global",
    ),
    "a name that cannot be shown": (member().replace("  clock:", '  "a\\e[31m":'), 5, "schedules.a\x1b[31m", "unusable", "shown"),
    "a long name": (member().replace("clock", "c" * 300), 5, f"schedules.{'c' * 300}", "too_long", "200"),
}


@pytest.mark.parametrize("case", CASES)
async def test_a_fault_is_named_with_its_line_and_what_is_allowed(case: str, sets: Sets) -> None:
    text, line, path, code, said = CASES[case]
    (fault,) = await sets.refused(text)
    assert ((fault.line if line is not None else None), ".".join(map(str, fault.path)), fault.code) == (line, path, code)
    assert said in fault.message


async def test_all_faults_come_at_once_in_the_order_of_their_lines(sets: Sets) -> None:
    text = member("{every: never}", "{kind: command, executable: rm, args: []}", "    execution: {cwd: none}\n")
    text += "  other:\n    trigger: {every: 1h}\n    target: {kind: playbook, name: 'a b'}\n"
    found = await sets.refused(text)
    assert [(fault.line, fault.path[1:]) for fault in found] == [
        (6, ("clock", "trigger", "every")),
        (7, ("clock", "target", "executable")),
        (8, ("clock", "execution", "cwd")),
        (11, ("other", "target", "name")),
    ]


async def test_a_thousand_faults_are_counted_not_listed(sets: Sets) -> None:
    found = await sets.refused(HEAD + CLOCK + "".join(f"    x{number}: 1\n" for number in range(1_000)))
    assert (len(found), found[0].line, found[-1].message) == (101, 8, "and 900 more faults")


async def test_aliases_and_merge_keys_that_a_person_would_write_are_fine(sets: Sets) -> None:
    text = HEAD + (
        "  one: &one\n    trigger: {every: 1h}\n    target: &target {kind: command, executable: date}\n"
        "  two:\n    <<: *one\n    trigger: {every: 2h}\n  three: {trigger: {every: 3h}, target: *target}\n"
    )
    found = await sets.service.validate_set(sets.file(text))
    assert [(member.key, member.trigger) for member in found.members] == [
        ("one", "every 1 h"),
        ("two", "every 2 h"),
        ("three", "every 3 h"),
    ]


@pytest.mark.parametrize("start", ["\ufeff", "\ufeff# a mark\r\n", "\r\n"])
async def test_marks_and_line_ends_of_other_systems_change_nothing(start: str, sets: Sets) -> None:
    found = await sets.service.validate_set(sets.file(start + (HEAD + CLOCK).replace("\n", "\r\n")))
    assert [member.name for member in found.members] == ["atlas/clock"]


async def test_a_folder_and_a_pipe_are_no_files(sets: Sets) -> None:
    os.mkfifo(sets.folder / "pipe")
    for path in (sets.folder, sets.folder / "pipe"):
        with pytest.raises(ValidationFailure, match="cannot be read"):
            await sets.service.validate_set(str(path))
