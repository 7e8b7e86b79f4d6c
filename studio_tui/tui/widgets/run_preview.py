"""The run under the cursor in a few lines: why it stands so, where it came from, and what was said last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal

from studio_tui.application.errors import StudioApplicationError
from studio_tui.application.models.runs import MessagePage, MessageQuery, MessageView, RunDetail, RunSummary
from studio_tui.tui import format as fmt
from studio_tui.tui.statuses import Span, reason_token, state_token
from studio_tui.tui.widgets.facts import fact, heading, wrapped
from studio_tui.tui.widgets.message_text import ROLE, one_line
from studio_tui.tui.widgets.panes import LinesPane

if TYPE_CHECKING:
    from studio_tui.application.studio import Studio

_WIDE = 110
_LAST = 6


class RunPreview(Horizontal):
    """Facts on the left and, where there is room, the last messages on the right."""

    DEFAULT_CSS = """
    RunPreview {
        height: 8;
        & > #preview-facts { width: 1fr; height: 1fr; }
        & > #preview-messages { width: 1fr; height: 1fr; border-left: solid $line; display: none; }
        &.-wide > #preview-messages { display: block; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._run_id: str | None = None

    def compose(self) -> ComposeResult:
        """Facts, messages."""
        yield LinesPane(id="preview-facts")
        yield LinesPane(id="preview-messages")

    def on_resize(self) -> None:
        """Messages need room."""
        self.set_class(self.size.width >= _WIDE, "-wide")

    async def read(self, studio: Studio, run_id: str) -> tuple[RunDetail, MessagePage | None]:
        """What the preview shows beyond the row. Raises the closed errors of :meth:`RunService.get_run`."""
        detail = await studio.runs.get_run(run_id)
        if not self.has_class("-wide"):
            return detail, None
        try:
            return detail, await studio.runs.list_messages(MessageQuery(run_id=run_id, limit=_LAST))
        except StudioApplicationError:
            return detail, None

    def show_row(self, run: RunSummary | None) -> None:
        """What a row of the list knows. The lines that need reading stay until they are read, if it is the same run."""
        if run is None:
            self._run_id = None
            self.query_one("#preview-facts", LinesPane).show(())
            self.query_one("#preview-messages", LinesPane).show(())
        elif run.run_id != self._run_id:
            self._run_id = run.run_id
            self.query_one("#preview-facts", LinesPane).show(self._facts(run, None))
            self.query_one("#preview-messages", LinesPane).show(())

    def show_detail(self, read: tuple[RunDetail, MessagePage | None]) -> None:
        """What was read, unless the cursor has gone on."""
        detail, page = read
        if detail.run_id != self._run_id:
            return
        self.query_one("#preview-facts", LinesPane).show(self._facts(detail, detail))
        if page is not None:
            self.query_one("#preview-messages", LinesPane).show(
                [heading("last messages"), *(_message_line(message) for message in page.items[-_LAST:])]
            )

    def _facts(self, run: RunSummary, detail: RunDetail | None) -> Sequence[Sequence[Span]]:
        half = self.size.width // 2 if self.has_class("-wide") else self.size.width
        lines: list[list[Span]] = [
            [
                *heading(run.name),
                ("  ", "soft"),
                (run.state, state_token(run.state)),
                (f" · {run.status}" + (f" · {fmt.duration(run.duration)}" if run.duration is not None else ""), "faint"),
            ]
        ]
        if run.problems:
            lines += wrapped("problem", ", ".join(run.problems), half, "warn", limit=1, indent=3)
        reason = run.status_reason_summary or run.reason
        if reason:
            lines += wrapped("why", reason, half, reason_token(run.state), limit=2, indent=3)
        lines.append(_origin(run, detail))
        if detail is not None and detail.missing_required:
            lines.append(fact("artifact", (", ".join(detail.missing_required), "ink"), ("  required, missing", "fail"), indent=3))
        lines.append(_usage(run))
        lines.append(fact("id", (run.run_id, "faint"), indent=3))
        return lines


def _origin(run: RunSummary, detail: RunDetail | None) -> list[Span]:
    origin = detail.provenance if detail else None
    parts: list[Span] = []
    if origin and origin.schedule_name:
        parts += [(origin.schedule_name, "accent"), (" › ", "faint")]
    if origin and origin.firing_id:
        parts += [(f"firing {origin.firing_id}", "soft"), (" › ", "faint")]
    if run.invocation_id:
        parts += [(f"invocation {run.invocation_id}", "soft"), (" › ", "faint")]
    agent = " ".join(part for part in (run.agent_name, run.model) if part)
    return fact("from", *parts, ("this run" if parts else agent or run.invocation_kind, "soft"), indent=3)


def _usage(run: RunSummary) -> list[Span]:
    tokens = f"{fmt.tokens(run.input_tokens)} in  {fmt.tokens(run.output_tokens)} out"
    cost = "cost not reported" if run.total_cost_usd is None else f"{fmt.money(run.total_cost_usd)} usd"
    return fact("usage", tokens if run.input_tokens or run.output_tokens else "tokens not reported", f"   {cost}", indent=3)


def _message_line(message: MessageView) -> list[Span]:
    word, token = ROLE[message.kind]
    text, style = one_line(message)
    return [(f"   {fmt.seconds(message.at)}  ", "faint"), (word.ljust(10), token), (text, style)]
