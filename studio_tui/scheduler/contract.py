"""Limits and field rules of schedules that are checked alike when one is saved and when one fires (lionagi 0.36).

Each ``*_fault`` function answers what is wrong with a value and what is allowed, or ``None`` when it is fine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from studio_tui.domain.chains import MAX_CHAIN_DEPTH as MAX_CHAIN_DEPTH

PROMPT_LIMIT: Final = 262_144
"""Characters of the longest prompt that lionagi accepts, before and after its templates are filled."""

ARGUMENT_LIMIT_BYTES: Final = 131_071
"""UTF-8 bytes of the longest single argument that Linux passes to a process (MAX_ARG_STRLEN less its end mark)."""

NAME_LIMIT: Final = 200
"""Characters of the longest schedule name that we make."""

DEFAULT_SLOTS: Final = 4
"""Firings at once where ``LIONAGI_STUDIO_MAX_SCHEDULED_CONCURRENT`` says nothing."""

DEFAULT_DEADLINE: Final = 7_200.0
"""Seconds that a firing may take where ``LIONAGI_STUDIO_INVOCATION_DEADLINE_SECONDS`` says nothing."""

DEFERRAL_NOTE_EVERY: Final = 10
"""A firing that waits for a slot leaves a row at its deferral 1, 11, 21 and so on."""

COMMAND_ALLOWLIST_VARIABLE: Final = "LIONAGI_SCHEDULER_COMMAND_ALLOWLIST"
WORKING_DIRECTORY_VARIABLE: Final = "LIONAGI_SCHEDULER_CWD"

PLAY_VERBS: Final = frozenset({"list", "check", "status"})
"""Words that ``li play`` takes for its own verbs, so that no playbook may have such a name."""

IDENTIFIER_CHARACTERS: Final = "letters, digits and _ . / : @ -"
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_./:@-]+\Z")
_COMMAND: Final = re.compile(r"[A-Za-z0-9_.-]+\Z")
_ARGUMENT_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")

RESERVED_FLOW_OPTIONS: Final = frozenset(
    {
        *("agent", "allow-degraded-context", "background", "bare", "bypass", "cwd", "dry-run", "effort", "fast", "file"),
        *("help", "invocation", "max-agents", "max-concurrent", "max-ops", "mcp-config", "no-mcp-config", "notify"),
        *("output", "pack", "playbook", "project", "reactive", "resume", "resume-on-timeout", "retry-failed", "save"),
        *("show-graph", "team-attach", "team-max-rounds", "team-mode", "theme", "timeout", "verbose", "with-synthesis"),
        *("workers", "yolo"),
    }
)
"""Options of ``li o flow``: a playbook argument of such a name would become that option."""


def identifier_fault(value: str) -> str | None:
    """Of a model, agent, project or playbook name. An option-like value would be taken for an option."""
    if value.startswith("-"):
        return f"{value!r} begins with '-' and would be taken for an option; allowed: {IDENTIFIER_CHARACTERS}"
    if not _IDENTIFIER.match(value):
        return f"{value!r} holds other characters than are allowed: {IDENTIFIER_CHARACTERS}"
    return None


def playbook_fault(value: str) -> str | None:
    """Of the name of the playbook that a play runs."""
    if value in PLAY_VERBS:
        return f"{value!r} is a verb of `li play`, not a playbook"
    return identifier_fault(value)


def command_fault(value: str) -> str | None:
    """Of a command's name: a bare name that is looked up on the host's PATH, never a path or an option."""
    if not value:
        return "a command is wanted"
    if "/" in value or "\\" in value:
        return f"{value!r} is a path; allowed: the bare name of an executable on the host's PATH"
    if value.startswith("-"):
        return f"{value!r} begins with '-'; allowed: the bare name of an executable"
    if not _COMMAND.match(value):
        return f"{value!r} holds other characters than are allowed: letters, digits and _ . -"
    return None


def allowlist(setting: str | None) -> frozenset[str]:
    """The command names that ``LIONAGI_SCHEDULER_COMMAND_ALLOWLIST`` lists: commas between, spaces trimmed, no wildcards."""
    return frozenset(name.strip() for name in (setting or "").split(",") if name.strip())


def allowlist_fault(command: str, allowed: frozenset[str]) -> str | None:
    """Of a command that is not on the host's list. An empty list allows none."""
    if command in allowed:
        return None
    listed = f"it lists {', '.join(sorted(allowed))}" if allowed else "it is empty, so no command may run"
    return (
        f"command {command!r} is not in {COMMAND_ALLOWLIST_VARIABLE} of the process that hosts the scheduler: {listed}; "
        f"to allow it, start the host with {COMMAND_ALLOWLIST_VARIABLE}={','.join(sorted(allowed | {command}))}"
    )


def prompt_fault(prompt: str, *, play: bool = False) -> str | None:
    """Of a prompt, as stored or as rendered. ``play``: ``li play`` knows no ``--``, so a dash first would be an option."""
    if prompt == "--":
        return "a prompt of '--' only would be taken for the end of the options"
    if play and prompt.startswith("-"):
        return "the prompt of a play must not begin with '-': it would be taken for an option"
    if len(prompt) > PROMPT_LIMIT:
        return f"the prompt has {len(prompt):,} characters; allowed: at most {PROMPT_LIMIT:,}"
    return argument_fault("the prompt", prompt)


def argument_fault(what: str, value: str) -> str | None:
    """Of anything that is passed as one argument: too long, or nothing that a process can be given."""
    if "\0" in value:
        return f"{what} holds a NUL character, which no process can be given"
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError:
        return f"{what} is not valid text (it holds half a surrogate pair)"
    if size > ARGUMENT_LIMIT_BYTES:
        return f"{what} has {size:,} bytes; allowed: at most {ARGUMENT_LIMIT_BYTES:,}, the longest argument that Linux passes on"
    return None


def extra_args_fault(kind: str, model: str | None, playbook: str | None, extra: Sequence[str]) -> str | None:
    """Of the extra arguments of an action."""
    if not extra:
        return None
    option = next((token for token in extra if token.startswith("-")), None)
    if option is not None:
        return f"extra argument {option!r} begins with '-' and would be taken for an option"
    if kind == "agent" and not model:
        return "extra arguments need a model: without one the first of them would be taken for the model or the prompt"
    if kind in ("flow_yaml", "command"):
        return f"a {kind} action takes no extra arguments"
    if kind == "play" and not playbook and extra[0] in PLAY_VERBS:
        return f"extra argument {extra[0]!r} is a verb of `li play`"
    return next((fault for token in extra if (fault := argument_fault("an extra argument", token))), None)


def playbook_args_fault(values: Mapping[str, object]) -> str | None:
    """Of the named arguments of a playbook, which become options of ``li play``."""
    for name, value in values.items():
        if not _ARGUMENT_NAME.match(name):
            return f"{name!r} is no name for a playbook argument; allowed: letters, digits, _ and -, a letter first"
        if name.replace("_", "-") in RESERVED_FLOW_OPTIONS:
            return f"playbook argument {name!r} has the name of an option of `li o flow` and would set that instead"
        if not isinstance(value, str | int | float | bool):
            return f"playbook argument {name!r} must be a text, a number or true/false"
        if isinstance(value, str) and value.startswith("-"):
            return f"playbook argument {name!r} has a value that begins with '-' and would be taken for an option"
        if fault := argument_fault(f"playbook argument {name!r}", str(value)):
            return fault
    return None
