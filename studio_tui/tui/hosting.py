"""Who fires the schedules, in words, and the two questions about it: may it be here, and what of the missed fires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.screen import ModalScreen

from studio_tui.tui import format as fmt
from studio_tui.tui.screens.dialogs import Choice, TextPrompt
from studio_tui.tui.statuses import Span
from studio_tui.tui.widgets.choices import Answer

if TYPE_CHECKING:
    from studio_tui.application.models.host import HoldResult, HostStatus
    from studio_tui.tui.app import StudioApp

_LISTED: Final = 8
_NAMED: Final = 3


def host_line(status: HostStatus, now: float) -> Sequence[Span]:
    """The scheduler in one line, above the schedules."""
    match status.state:
        case "hosting" | "held" if status.missed:
            spans: list[Span] = [(f" {len(status.missed)} missed", "bold warn"), ("   nothing fires before M decides", "soft")]
        case "hosting":
            spans = [(" firing here", "bold ok"), (f"   {_slots(status)}", "soft")]
            if status.next_due_at is not None:
                spans.append((f"   next at {fmt.clock(status.next_due_at)}", "soft"))
            if status.restarts:
                spans.append((f"   restarted {status.restarts} times", "warn"))
        case "standby" if status.rival:
            spans = [(" two hosts?", "bold fail"), (f"   {status.rival}   M decides", "warn")]
        case "standby":
            spans = [(" standing by", "bold soft"), (f"   {status.holder or status.reason or 'another process'} fires", "soft")]
        case "undecided":
            spans = [(" nothing fires here yet", "bold warn"), ("   M decides whether this console may", "soft")]
        case "stalled":
            spans = [(" the scheduler stalled", "bold fail"), (f"   {status.reason or 'it is started again by itself'}", "soft")]
        case "held":
            spans = [(" firing is held", "bold warn"), (f"   {status.reason or ''}", "soft")]
        case _:
            spans = [(" not firing here", "bold mute"), (f"   {status.reason or 'M turns it on'}", "soft")]
    if status.reason and status.state == "hosting" and not status.missed:
        spans.append((f"   {status.reason}", "warn"))
    return spans


def ask_about_host(app: StudioApp) -> None:
    """Put the open question about the scheduler, or say how it stands where there is none."""
    status = app.studio.host.status()
    if status.state == "undecided" or (status.state == "off" and app.studio.store.status().mode == "ready"):
        _ask_to_host(app, status)
    elif status.missed:
        _ask_about_missed(app, status)
    elif status.rival:
        _ask_about_rival(app, status.rival)
    else:
        app.toast("".join(text for text, _ in host_line(status, app.now())).strip())


def ask_to_hold(app: StudioApp) -> None:
    """Ask for how long nothing shall fire, and hold."""
    words = ["nothing fires for this long, whichever console hosts; what passes meanwhile is settled by each missed-fire policy"]

    def answered(duration: str | None) -> None:
        if duration is not None:
            hold_for(app, duration)

    app.push_screen(TextPrompt("hold all firing for", words, value="1h", hint="30m, 6h, 1h30m"), answered)


def hold_for(app: StudioApp, duration: str) -> None:
    """Fire nothing for so long, and say what will come due."""
    app.act(lambda: app.studio.host.hold_for(duration), lambda result: _held(app, result))


def release(app: StudioApp) -> None:
    """Hold no longer."""

    def done(_result: HoldResult) -> None:
        app.toast("firing is held no longer")
        _refresh(app)

    app.act(lambda: app.studio.host.release(), done)


def _held(app: StudioApp, result: HoldResult) -> None:
    """Say what will come due meanwhile."""
    count = len(result.due) + result.more
    first = ", ".join(f"{one.name} at {fmt.clock(one.due_at)}" for one in result.due[:_NAMED])
    more = f" and {count - _NAMED} more" if count > _NAMED else ""
    what = f"; due until then: {first}{more}" if count else "; nothing is due until then"
    app.toast(f"nothing fires before {fmt.clock(result.until or 0.0)}{what}")
    _refresh(app)


def greet(app: StudioApp) -> OpenQuestion:
    """What is said and asked when the console opens: why nothing can be changed, and who is to fire the schedules."""
    store = app.studio.store.status()
    if store.mode == "read_only" and store.reason:
        app.toast(store.reason, severity="warning")
    question = OpenQuestion(app)
    question.look()
    return question


class OpenQuestion:
    """What is asked without a key: when the console opens, and when it was told to host, since that may raise the next question.

    Missed instants are known only after the host's first look. What turns up later waits for the key; the header says so.
    """

    def __init__(self, app: StudioApp) -> None:
        self._app = app
        self._expected = True

    def look(self) -> None:
        """Put the question if there is one now and no other dialog is open. What is not there, or read-only, cannot fire."""
        if not self._expected or isinstance(self._app.screen, ModalScreen):
            return
        if self._app.studio.store.status().mode != "ready":
            return
        status = self._app.studio.host.status()
        if status.state == "undecided" or status.missed:
            self._expected = False
            ask_about_host(self._app)
        else:
            self._expected = _still_looks(status)

    def answered(self) -> None:
        """It was decided who hosts; missed fires may be found now."""
        self._expected = True


def _still_looks(status: HostStatus) -> bool:
    """Whether the host has not told yet what it found."""
    return (status.state == "off" and status.reason is None) or (status.state == "hosting" and status.pass_age is None)


def _ask_to_host(app: StudioApp, status: HostStatus) -> None:
    words = [
        "this home was made by another program, and its schedules do not fire from here yet",
        "one process fires them: while this console does, other consoles stand by",
    ]
    if status.holder:
        words.append(f"now it is {status.holder}")
    answers = [
        Answer("later", "not now", "nothing fires; asked again at the next start"),
        Answer("yes", "host here", "they fire while this console is open; kept"),
        Answer("no", "never here", "nothing fires from here; kept; M changes it"),
    ]

    def answered(answer: str | None) -> None:
        if answer in ("yes", "no"):
            hosting = answer == "yes"
            app.act(lambda: app.studio.host.decide(host=hosting, remember=True), lambda _done: _decided(app))

    app.push_screen(Choice("may this console fire this home's schedules?", words, answers), answered)


def _ask_about_rival(app: StudioApp, evidence: str) -> None:
    words = [
        evidence,
        "whoever that is goes by no lock of ours: two that fire pass each other's limits, though no instant fires twice",
        "nothing fires from here until you decide",
    ]
    answers = [
        Answer("later", "not now", "nothing fires from here"),
        Answer("yes", "fire here again", "after the other one was stopped, say"),
    ]

    def answered(answer: str | None) -> None:
        if answer == "yes":
            app.act(lambda: app.studio.host.decide(host=True, remember=False), lambda _done: _refresh(app))

    app.push_screen(Choice("two hosts?", words, answers), answered)


def _decided(app: StudioApp) -> None:
    if app.question is not None:
        app.question.answered()
        app.question.look()
    _refresh(app)


def _refresh(app: StudioApp) -> None:
    if app.top_screen is not None:
        app.top_screen.refresh_data()


def _ask_about_missed(app: StudioApp, status: HostStatus) -> None:
    missed = status.missed
    words: list[str | Sequence[Span]] = ["nobody fired these while they were due; nothing fires before you decide", ""]
    for one in missed[:_LISTED]:
        effect = "will run once" if one.policy == "run_once" else "will be skipped"
        words.append([(f"{fmt.when(one.due_at, app.now()):>6}  ", "faint"), (f"{one.name}  ", "ink"), (effect, "soft")])
    if len(missed) > _LISTED:
        words.append(f"and {len(missed) - _LISTED} more")
    once = sum(1 for one in missed if one.policy == "run_once")
    answers = [
        Answer("later", "not now", "nothing fires from here until M decides"),
        Answer("apply", "apply policies", f"{once} run once now, {len(missed) - once} are skipped"),
        Answer("skip", "skip them all", "each is kept as skipped; nothing is made up for"),
    ]

    def answered(answer: str | None) -> None:
        if answer in ("apply", "skip"):
            apply = answer == "apply"
            app.act(lambda: app.studio.host.settle_missed(apply_policies=apply), lambda _done: _refresh(app))

    app.push_screen(Choice(f"{len(missed)} missed {'fire' if len(missed) == 1 else 'fires'}", words, answers), answered)


def _slots(status: HostStatus) -> str:
    return f"{status.running} of {status.slots} slots busy" if status.slots else f"{status.running} running, no limit"
