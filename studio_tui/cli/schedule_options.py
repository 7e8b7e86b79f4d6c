"""Options that making and changing a schedule share, and what their values mean. An option that is not given is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.cli.session import made
from studio_tui.cli.values import instant, json_object, rate, seconds

if TYPE_CHECKING:
    from studio_tui.application.models.schedules import Trigger

Command = Callable[..., Any]
Options = Sequence[Callable[[Command], Command]]

WHEN: Final[Options] = (
    click.option("--cron", metavar="EXPR", help='A cron expression, such as "0 2 * * *".'),
    click.option("--timezone", metavar="ZONE", help="The IANA zone of --cron; without it, this machine's."),
    click.option("--every", metavar="DURATION", callback=seconds, help="An interval, such as 30s, 15m, 6h or 2d."),
    click.option("--at", metavar="RFC3339", callback=instant, help="Fire once, such as 2026-07-15T09:00:00-04:00."),
    click.option("--github", metavar="OWNER/REPO", help="Fire for events of a repository: its pull requests."),
    click.option("--poll-every", metavar="DURATION", callback=seconds, help="How often --github is asked; 5m if not given."),
    click.option("--github-filter", metavar="JSON", callback=json_object, help='Which events, such as {"event": "pr_merged"}.'),
)
LIMITS: Final[Options] = (
    click.option("--once", is_flag=True, help="The same as --max-runs 1."),
    click.option("--max-runs", type=click.IntRange(1), metavar="N", help="Turn it off after N runs."),
    click.option("--overlap", type=click.Choice(("skip", "allow")), help="What if the one before still runs; skip at first."),
    click.option(
        "--missed-fire",
        type=click.Choice(("skip", "run-once", "run_once")),
        help="What of an instant at which nobody hosted; skip at first.",
    ),
    click.option("--budget-usd", type=float, metavar="USD", help="Turn it off when its runs have cost this much."),
    click.option(
        "--budget-tokens", type=click.IntRange(1), metavar="N", help="Turn it off when its runs have used so many tokens."
    ),
    click.option("--rate", metavar="N/DURATION", callback=rate, help="At most N firings in that time, such as 3/1h; more wait."),
    click.option(
        "--threshold",
        nargs=4,
        type=(str, click.Choice(("gt", "gte")), float, str),
        metavar="METRIC OP VALUE WINDOW",
        help="Fire only while a figure of the store is beyond a value, such as failed_sessions gt 3 1h.",
    ),
    click.option("--project", metavar="NAME", help="The project that its runs belong to."),
    click.option("--description", metavar="TEXT"),
)
CHAIN: Final[Options] = (
    click.option("--on-success", metavar="JSON", callback=json_object, help="What runs next after a success; see below."),
    click.option("--on-fail", metavar="JSON", callback=json_object, help="What runs next after anything else; see below."),
    click.option("--extra-arg", "extra_args", multiple=True, metavar="ARG", help="One more argument; may be repeated."),
)
PROMPT: Final[Options] = (
    click.option("--prompt", metavar="TEXT"),
    click.option(
        "--prompt-file", type=click.File(encoding="utf-8"), metavar="PATH", help="Read it from a file; - is standard input."
    ),
)
CHAIN_HELP: Final = """A step of a chain is an object with kind, model, prompt, agent, playbook, on_success and on_fail. It is
laid over the action: what it does not name stays as it was. A step that does not name the branch which led to it inherits it, and
so repeats until the depth limit of 10; null stops there: {"agent": "fixer", "prompt": "Mend it", "on_fail": null}."""


def options(*groups: Options) -> Callable[[Command], Command]:
    """All options of these groups."""

    def decorate(command: Command) -> Command:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return decorate


def trigger_of(given: dict[str, Any]) -> Trigger | None:
    """The trigger that the options name, or ``None``. Raises :class:`click.UsageError` for two of them."""
    from studio_tui.application.models.schedules import AtTrigger, CronTrigger, GithubPollTrigger, IntervalTrigger

    named = [f"--{name}" for name in ("cron", "every", "at", "github") if given[name] is not None]
    if len(named) > 1:
        raise click.UsageError(f"{' and '.join(named)} exclude each other", click.get_current_context())
    _goes_with(given, named)
    match named:
        case ["--cron"]:
            return made(CronTrigger, expression=given["cron"], **_set(timezone=given["timezone"]))
        case ["--every"]:
            return made(IntervalTrigger, seconds=given["every"])
        case ["--at"]:
            return made(AtTrigger, at=given["at"])
        case ["--github"]:
            every = given["poll_every"] or 300
            filters = _set(filters=given["github_filter"])
            return made(GithubPollTrigger, repository=given["github"], poll_interval_seconds=every, **filters)
    return None


def limits_of(given: dict[str, Any]) -> dict[str, Any]:
    """Policies, caps and texts that the options name, by the fields of the commands."""
    from studio_tui.application.models.schedules import RateLimit

    limit = given["rate"]
    return _set(
        description=given["description"],
        project=given["project"],
        overlap_policy=given["overlap"],
        missed_fire_policy=None if given["missed_fire"] is None else given["missed_fire"].replace("-", "_"),
        max_runs=_max_runs(given["once"], given["max_runs"]),
        budget_usd=given["budget_usd"],
        budget_tokens=given["budget_tokens"],
        rate_limit=None if limit is None else made(RateLimit, max_fires=limit[0], window_sec=limit[1]),
        threshold_config=_threshold(given["threshold"]),
    )


def chain_of(given: dict[str, Any]) -> dict[str, Any]:
    """Chain and extra arguments that the options name."""
    return _set(on_success=given["on_success"], on_fail=given["on_fail"], extra_args=given["extra_args"] or None)


def text_of(text: str | None, file: Any, what: str) -> str | None:
    """A text that is given as such or in a file."""
    if text is not None and file is not None:
        raise click.UsageError(f"--{what} and --{what}-file exclude each other", click.get_current_context())
    return read(file) if file is not None else text


def read(file: Any) -> str:
    """The text of an open file. Raises :class:`click.UsageError` when it is none."""
    try:
        return str(file.read())
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{file.name} cannot be read as text", click.get_current_context()) from error


def _goes_with(given: dict[str, Any], named: list[str]) -> None:
    for option, other in (("poll_every", "--github"), ("github_filter", "--github")):
        if given[option] is not None and named != [other]:
            raise click.UsageError(f"--{option.replace('_', '-')} goes with {other}", click.get_current_context())
    if given["timezone"] is not None and named not in (["--cron"], []):
        raise click.UsageError("--timezone goes with --cron", click.get_current_context())


def _threshold(words: tuple[str, str, float, str] | None) -> object:
    from studio_tui.application.durations import parse_duration
    from studio_tui.application.models.schedules import Threshold

    if not words:
        return None
    metric, operator, value, window = words
    try:
        minutes, rest = divmod(parse_duration(window), 60)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--threshold") from error
    if rest:
        raise click.BadParameter("the window of a threshold has whole minutes", param_hint="--threshold")
    return made(Threshold, metric=metric, op=operator, value=value, window_minutes=minutes)


def _max_runs(once: bool, max_runs: int | None) -> int | None:
    if once and max_runs not in (None, 1):
        raise click.UsageError("--once and --max-runs exclude each other", click.get_current_context())
    return 1 if once else max_runs


def _set(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
