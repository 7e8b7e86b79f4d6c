"""What every screen is: header, body, footer, and reads that never pile up, never arrive late, and never end the app."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar, cast

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen

from studio_tui.application.errors import StudioApplicationError
from studio_tui.tui import failures
from studio_tui.tui.keys import bind
from studio_tui.tui.widgets.chrome import FooterBar, HeaderBar
from studio_tui.tui.widgets.notice import READING, Notice
from studio_tui.tui.widgets.panes import LinesPane
from studio_tui.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from studio_tui.application.studio import Studio
    from studio_tui.tui.app import StudioApp

T = TypeVar("T")
_PATIENCE: Final = 0.15
"""Seconds before a pane says that it is reading."""
_RETRIES: Final = (2.0, 5.0, 10.0, 30.0)
"""Seconds between reads that are tried again by themselves."""


@dataclass
class _Panel:
    """The reads of one panel: the number of the newest question, whether one is under way, and the one that waits."""

    number: int = 0
    running: bool = False
    waiting: Callable[[], None] | None = None
    failures: int = 0
    read_at: float | None = None


class ChromeScreen(Screen[Any]):
    """Header, body and footer."""

    def compose(self) -> ComposeResult:
        """The two lines and what is between them."""
        yield HeaderBar()
        yield from self.body()
        yield FooterBar()

    def body(self) -> ComposeResult:
        """What is between header and footer."""
        raise NotImplementedError

    @property
    def studio_app(self) -> StudioApp:
        """The app, typed."""
        return cast("StudioApp", self.app)

    def on_screen_resume(self) -> None:
        """The header's facts may have changed while this screen was hidden."""
        for header in self.query(HeaderBar):
            header.update()

    def on_paste(self, event: events.Paste) -> None:
        """Text pasted at a list is not keys."""
        event.stop()
        self.studio_app.toast("paste ignored: no text field has the focus")


class OpeningScreen(ChromeScreen):
    """The first frame: shown while the program behind it is imported and the store is opened."""

    BINDINGS = [bind("refresh", "app.open_again", verb="try again")]
    failed = False

    def body(self) -> ComposeResult:
        """An empty pane."""
        yield LinesPane(id="opening")

    def begin(self) -> None:
        """Opening begins; after a moment the pane says so."""
        self.failed = False
        self.query_one(LinesPane).show([])
        self.refresh_bindings()
        self.set_timer(_PATIENCE, lambda: None if self.failed else self.query_one(LinesPane).say(READING))

    def say(self, notice: Notice) -> None:
        """Say why it did not open."""
        self.failed = True
        self.query_one(LinesPane).say(notice)
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Trying again makes sense only after a failure."""
        return self.failed if action == "open_again" else True


class StudioScreen(ChromeScreen):
    """A screen over the application's operations.

    Subclasses give :meth:`body` and :meth:`refresh_data`, and read with :meth:`ask`. While a screen is hidden it asks nothing;
    when it is shown again it reads again.
    """

    TOPICS: ClassVar[frozenset[str]] = frozenset({"store"})
    """Topics of the change feed that make this screen read again."""
    AUTO_FOCUS = "VirtualList"
    BINDINGS = [bind("refresh", "refresh", show=False), bind("back", "back", show=False)]

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self._panels: dict[str, _Panel] = {}
        self._resuming = False
        self.answered = asyncio.Event()
        """Set once anything that this screen asked was answered."""

    @property
    def studio(self) -> Studio:
        """The application's operations."""
        return self.studio_app.studio

    def now(self) -> float:
        """The time by the application's clock, in epoch seconds."""
        return self.studio_app.now()

    @property
    def failed_reads(self) -> tuple[float | None, ...]:
        """When each panel that could not be read again was last read; ``None`` for never."""
        return tuple(state.read_at for state in self._panels.values() if state.failures)

    def refresh_data(self) -> None:
        """Read what this screen shows. Called when it is shown, when the store or the files changed, and by a key."""
        raise NotImplementedError

    def changed(self, topics: frozenset[str]) -> None:
        """The change feed spoke while this screen is on top."""
        if topics & self.TOPICS:
            self.refresh_data()

    def second(self) -> None:
        """Another second: what is said of states in memory is looked at again. What did not change must not be drawn."""

    def minute(self) -> None:
        """Another minute on the clock: texts with ages are drawn again (only lines that differ are sent)."""
        for shown in self.query(VirtualList):
            shown.retick()

    def on_screen_resume(self) -> None:
        """Shown (again): what was missed meanwhile is read, once, though Textual may say it twice."""
        if not self._resuming:
            self._resuming = True
            self.call_later(self._resumed)

    def _resumed(self) -> None:
        self._resuming = False
        self.refresh_data()

    def action_refresh(self) -> None:
        """Read again by hand."""
        self.refresh_data()

    def action_upgrade(self) -> None:
        """Bring an older store up to date."""
        from studio_tui.tui.screens.upgrade import ask_to_upgrade

        ask_to_upgrade(self)

    def action_back(self) -> None:
        """Up one level; at the top there is nothing to go back to."""
        if self.studio_app.depth > 1:
            self.dismiss()

    # --- reading ------------------------------------------------------------------------------------------------------

    @property
    def is_there(self) -> bool:
        """Whether an answer still finds its panels: a screen that is left loses them before it counts as gone itself."""
        return self.is_mounted and not (self._closing or self._closed or self._pruning)

    def ask(
        self,
        panel: str,
        operation: Callable[[], Awaitable[T]],
        apply: Callable[[T], None],
        failed: Callable[[StudioApplicationError], None] | None = None,
    ) -> None:
        """Read for one panel and apply the answer, unless a newer question has been asked meanwhile.

        One read per panel is under way at a time; of those asked meanwhile only the newest is then made. ``panel`` is the id of
        the widget that the answer goes to: a :class:`VirtualList` shows reading, errors and stale rows by itself, and ``failed``
        may replace that.
        """
        state = self._panels.setdefault(panel, _Panel())
        state.number += 1
        number = state.number

        def start() -> None:
            state.running = True
            self.run_worker(
                self._answer_ask(panel, state, number, operation, apply, failed), group=f"read {panel}", exit_on_error=False
            )

        if state.running:
            state.waiting = start
            return
        if state.read_at is None:
            self.set_timer(_PATIENCE, lambda: self._say_reading(panel))
        start()

    async def _answer_ask(
        self,
        panel: str,
        state: _Panel,
        number: int,
        operation: Callable[[], Awaitable[T]],
        apply: Callable[[T], None],
        failed: Callable[[StudioApplicationError], None] | None,
    ) -> None:
        try:
            answer = await operation()
            if number == state.number and self.is_there:
                state.failures, state.read_at = 0, self.now()
                apply(answer)
        except StudioApplicationError as error:
            if number == state.number and self.is_there:
                self._ask_failed(panel, state, error, failed)
        except Exception as error:
            self.studio_app.fault(error)
        finally:
            self.answered.set()
            state.running = False
            waiting, state.waiting = state.waiting, None
            if waiting and self.is_there:
                waiting()

    def _ask_failed(
        self,
        panel: str,
        state: _Panel,
        error: StudioApplicationError,
        failed: Callable[[StudioApplicationError], None] | None,
    ) -> None:
        said = failures.explain(error)
        if said.retry:
            self.set_timer(_RETRIES[min(state.failures, len(_RETRIES) - 1)], self._ask_again)
        state.failures += 1
        if failed:
            failed(error)
            return
        target = self._list_named(panel)
        if target is None:
            self.studio_app.toast(said.sentence, severity=said.severity)
        else:
            target.say(failures.notice(error), stale=True)

    def _ask_again(self) -> None:
        if self.is_current:
            self.refresh_data()

    def _say_reading(self, panel: str) -> None:
        state, target = self._panels[panel], self._list_named(panel)
        if target is not None and state.running and state.read_at is None and not target.rows:
            target.say(READING)

    def _list_named(self, panel: str) -> VirtualList[Any] | None:
        return next((shown for shown in self.query(VirtualList) if shown.id == panel), None)

    # --- acting -------------------------------------------------------------------------------------------------------

    def act(self, operation: Callable[[], Awaitable[T]], done: Callable[[T], None]) -> None:
        """Change something. It belongs to the app, so that leaving this screen does not cut it off; errors become toasts."""

        def finished(result: T) -> None:
            if self.is_mounted:
                done(result)

        self.studio_app.act(operation, finished)
