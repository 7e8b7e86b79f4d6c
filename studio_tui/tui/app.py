"""The console: paints a frame at once, then opens the studio behind it and enters the first screen.

Nothing here, nor anything that this module imports, loads pydantic, SQLAlchemy, the models or a screen of data (a test holds it
to that): ``open_studio`` imports and opens all of that after the first frame, and the screens are imported when first entered.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

from textual import events
from textual.app import App, ScreenStackError
from textual.screen import Screen

from studio_tui.application.errors import StudioApplicationError
from studio_tui.tui import failures
from studio_tui.tui.clipboard import Clipboard
from studio_tui.tui.driver import StudioDriver
from studio_tui.tui.feeds import Feeds, quit_words
from studio_tui.tui.keys import bind
from studio_tui.tui.places import PLACES, Place
from studio_tui.tui.repaint import Resizing, ShownLines
from studio_tui.tui.safe_text import line
from studio_tui.tui.screens.base import OpeningScreen, StudioScreen
from studio_tui.tui.themes import DEFAULT_THEME, PALETTES, themes
from studio_tui.tui.typeahead import Passed, Typed, TypedKeys
from studio_tui.tui.widgets.chrome import Facts, HeaderBar

if TYPE_CHECKING:
    from rich.console import RenderableType

    from studio_tui.application.studio import Studio
    from studio_tui.tui.hosting import OpenQuestion

T = TypeVar("T")
Severity = Literal["information", "warning", "error"]
_FIRST_ROWS: Final = 2.0
_PAINT: Final = 0.03
"""Seconds in which the first rows reach the terminal."""
_TWICE: Final = 2.0
"""Seconds within which a second ctrl+c quits."""
_MINUTE: Final = 60.0
_MANY: Final = 3
log = logging.getLogger(__name__)


async def _awaited(operation: Callable[[], Awaitable[T]]) -> T:
    return await operation()


class StudioApp(App[int], inherit_bindings=False):
    """The shell: screens as modes, one change feed, the facts of the header, toasts, and one way out.

    ``open_studio`` gives the operations; what it raises is shown with a way to try again. ``close_studio`` ends what was opened
    and gives the lines that say what became of it: ``terminal.run_console`` calls it once the terminal has been given back.
    ``finish_opening`` brings what the first screen does not need; until it is done no other screen can be entered.
    """

    TITLE = "studio-tui"
    CSS_PATH = "styles/base.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [
        *(bind(f"go.{place.name}", f"go('{place.name}')", show=False) for place in PLACES),
        bind("palette", show=False),
        bind("host", "host", show=False),
        bind("help", "help"),
        bind("repaint", "repaint", show=False),
        bind("up", "up", show=False),
        bind("quit", "interrupt", show=False, priority=True),
    ]

    def __init__(
        self,
        open_studio: Callable[[], Awaitable[Studio]],
        close_studio: Callable[[], Awaitable[Sequence[str]]] | None = None,
        finish_opening: Callable[[], Awaitable[None]] | None = None,
        *,
        home_label: str = "home",
        ascii: bool = False,  # noqa: A002
        theme: str = DEFAULT_THEME,
        initial: str = "runs",
        clipboard: Clipboard | None = None,
        places: Sequence[Place] = PLACES,
    ) -> None:
        super().__init__(driver_class=StudioDriver)
        self.home_label, self.ascii, self.initial, self.places = line(home_label), ascii, initial, tuple(places)
        self.place = initial
        self.facts = Facts()
        self._open_studio = open_studio
        self.close_studio = close_studio
        self._finish_opening = finish_opening
        self._is_open = False
        self._wanted: str | None = None
        self._studio: Studio | None = None
        self._opening: asyncio.Task[Any] | None = None
        self._copier = clipboard or Clipboard()
        self._feeds = Feeds(self)
        self._typed = TypedKeys(self, self._handle_typed)
        self._interrupted_at = -_TWICE
        self._faults: list[float] = []
        self._shown = ShownLines()
        self._resizing = Resizing(self, self.action_repaint)
        self.question: OpenQuestion | None = None
        self.last_words: str | None = None
        for entry in themes():
            self.register_theme(entry)
        self.theme = theme if theme in PALETTES else DEFAULT_THEME
        for place in self.places:
            self.add_mode(place.name, place.load)

    # --- opening ------------------------------------------------------------------------------------------------------

    @property
    def studio(self) -> Studio:
        """The application's operations; only there once they are open."""
        if self._studio is None:
            raise RuntimeError("the studio is not open yet")
        return self._studio

    @property
    def is_open(self) -> bool:
        """Whether all operations are there."""
        return self._is_open

    def get_default_screen(self) -> Screen[Any]:
        """The first frame."""
        return OpeningScreen()

    def on_ready(self) -> None:
        """The first frame is on the terminal: open what is behind it."""
        self.app_resume_signal.subscribe(self, lambda _app: self._shown.forget())
        if isinstance(self._driver, StudioDriver):
            self._driver.on_lost = partial(self.leave, 128 + signal.SIGHUP)
            self._driver.on_caught_up = partial(self.call_later, self.action_repaint)
        self.action_open_again()

    def action_open_again(self) -> None:
        """Open the studio, or try again."""
        if not self.is_open:
            self.run_worker(self._open(), group="open", exclusive=True, exit_on_error=False)

    async def _open(self) -> None:
        opening = self.screen
        if isinstance(opening, OpeningScreen):
            opening.begin()
        try:
            self._studio = await self._opened(self._open_studio)
            if self.current_mode == self.place and self.screen is opening:
                await self.pop_screen()
            await self.switch_mode(self.place)
            if self._finish_opening is not None:
                await self._first_rows()
                await self._opened(self._finish_opening)
            self._is_open = True
            self._feeds.start()
            if self._wanted is not None:
                self.action_go(self._wanted)
            from studio_tui.tui.hosting import greet

            self.question = greet(self)
        except Exception as error:
            if not isinstance(opening, OpeningScreen):
                raise
            if self.screen is not opening:  # the first rows stand already, and nothing more can be read: cover them
                opening = OpeningScreen()
                await self.push_screen(opening)
            opening.say(failures.opening_notice(error))

    async def _opened(self, step: Callable[[], Awaitable[T]]) -> T:
        task = asyncio.create_task(_awaited(step), name="opening")
        self._opening = task
        return await asyncio.shield(task)

    async def _first_rows(self) -> None:
        """Until the first screen has its rows, nothing else may take time from it."""
        shown = self.top_screen
        if shown is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(shown.answered.wait(), _FIRST_ROWS)
            await asyncio.sleep(_PAINT)

    def action_host(self) -> None:
        """Decide who fires the schedules, and what of missed fires."""
        from studio_tui.tui.hosting import ask_about_host

        if self.is_open:
            ask_about_host(self)

    def action_hold(self, duration: str = "") -> None:
        """Fire nothing for a time; it is asked for where it is not given."""
        from studio_tui.tui.hosting import ask_to_hold, hold_for

        if self.is_open and duration:
            hold_for(self, duration)
        elif self.is_open:
            ask_to_hold(self)

    def action_release(self) -> None:
        """Hold no longer."""
        from studio_tui.tui.hosting import release

        if self.is_open:
            release(self)

    async def end_opening(self) -> None:
        """Give up an opening that is under way, and wait until it has closed what it had opened (a worker would be cut off)."""
        task = self._opening
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task])

    def now(self) -> float:
        """Epoch seconds by the application's clock."""
        return self._studio.clock.now() if self._studio else time.time()

    async def on_event(self, event: events.Event) -> None:
        """Keys typed before a dialog could be seen are not meant for it; after a resize a terminal may show anything."""
        if isinstance(event, events.Resize):
            self._shown.forget()
            self._resizing.changed()
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self._typed.take(event)
        else:
            await super().on_event(event)

    async def _handle_typed(self, event: Typed) -> None:
        try:
            if not self._too_early(event):
                await super().on_event(event)
        except ScreenStackError:
            if self.screen_stack:
                raise  # else the console is being left, and the key came too late

    async def on_passed(self, message: Passed) -> None:
        """What an earlier key was bound to is done."""
        await self._typed.passed(message)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Send what changed (Textual's own would send whole frames)."""
        if renderable is not None and self._running and not self._batch_count and not self.is_headless:
            renderable = cast("RenderableType", self._shown.only_changed(renderable, self.size.width))
        super()._display(screen, renderable)

    def _too_early(self, event: events.Event) -> bool:
        return getattr(self.screen, "is_deaf", False) and getattr(event, "key", "") != "escape"

    # --- where we are -------------------------------------------------------------------------------------------------

    @property
    def depth(self) -> int:
        """How many screens lie on each other here."""
        return len(self.screen_stack)

    @property
    def top_screen(self) -> StudioScreen | None:
        """The screen of data that is seen, be it below a dialog."""
        return next((one for one in reversed(self.screen_stack) if isinstance(one, StudioScreen)), None)

    def action_go(self, name: str) -> None:
        """Go to one of the places; from a detail of the same place, back to its list. While it opens, as soon as that is done."""
        if not self.is_open:
            self._wanted = name
            return
        if name != self.place:
            self.place = name
            self.switch_mode(name)
            return
        while self.depth > 1:
            self.pop_screen()

    def action_up(self) -> None:
        """Up one level; at the top, ask whether to quit."""
        if self.depth > 1:
            cast("Screen[Any]", self.screen).dismiss()
        else:
            self.action_ask_to_quit()

    def action_ask_to_quit(self) -> None:
        """Quit, after a question that says what stops with it."""
        from studio_tui.tui.screens.dialogs import Confirm

        words = quit_words(self._studio.host.status(), self.now()) if self._studio else ["nothing is open yet"]

        def answered(yes: bool | None) -> None:
            if yes:
                self.leave()

        self.push_screen(Confirm("quit?", words, verb="quit", cancel="stay"), answered)

    def action_interrupt(self) -> None:
        """The first time a hint, the second within two seconds the way out. With text selected it copies that."""
        selected = self.screen.get_selected_text()
        if selected:
            self.screen.clear_selection()
            self.copy(selected)
            return
        now = time.monotonic()
        if now - self._interrupted_at <= _TWICE:
            self.leave()
        else:
            self._interrupted_at = now
            self.toast("ctrl+c again within two seconds quits")

    def leave(self, code: int = 0) -> None:
        """The one way out: the feeds end, the terminal is restored, and the caller of ``run_async`` closes the rest."""
        self._feeds.stop()
        self.exit(code, return_code=code)

    def _fatal_error(self) -> None:
        """An exception that nobody caught, in a handler of Textual's: one line after the terminal is back, the rest in the log.

        (Textual's own version prints a traceback with every local variable.)
        """
        fault = failures.record(self._exception) if self._exception else "?"
        self.last_words = f"studio-tui ended by an unexpected fault, {fault} in its log; no data was lost by that"
        self._close_messages_no_wait()

    def catch_up(self) -> None:
        """Draw anew what a slow terminal did not take."""
        if isinstance(self._driver, StudioDriver):
            self._driver.catch_up()

    def action_repaint(self) -> None:
        """Draw everything again."""
        self._shown.forget()
        self.refresh(layout=True)
        self.screen.refresh(layout=True)

    async def action_help(self) -> None:
        """The keys of this screen."""
        from studio_tui.tui.screens.help import HelpDialog

        place = next((one.title for one in self.places if one.name == self.place), self.place)
        with self.batch_update():
            await self.push_screen(HelpDialog(self.screen, place))

    async def action_palette(self) -> None:
        """Find an action or a screen by name, and do it."""
        from studio_tui.tui.commands import Command, commands, typed
        from studio_tui.tui.screens.palette import PaletteDialog

        async def run(command: Command | None) -> None:
            if command is not None:
                await self.run_action(command.action, command.node)

        await self.push_screen(PaletteDialog(commands(self, self.screen), partial(typed, self)), run)

    def action_theme(self, name: str) -> None:
        """Other colours."""
        self.theme = name

    # --- what all screens share ---------------------------------------------------------------------------------------

    def copy(self, text: str) -> None:
        """Send a text of data to the clipboard, as it is; a toast names the route."""

        async def run() -> None:
            try:
                self.toast(await self._copier.copy(text, super(StudioApp, self).copy_to_clipboard))
            except Exception as error:
                self.fault(error)

        self.run_worker(run(), group="copy", exit_on_error=False)

    def copy_to_clipboard(self, text: str) -> None:
        """What was selected with the mouse goes the same way."""
        self.copy(text)

    def toast(self, text: str, *, severity: str = "information") -> None:
        """A short note that goes away. The text may hold data: it is cleaned and never markup."""
        self.notify(line(text), severity=cast("Severity", severity), markup=False)

    def fault(self, error: Exception) -> None:
        """An unexpected exception: logged with an id, shown, and survived. The third within a minute says how to leave."""
        self.toast(failures.explain(error).sentence, severity="error")
        now = time.monotonic()
        self._faults = [at for at in self._faults if now - at < _MINUTE] + [now]
        if len(self._faults) == _MANY:
            self.toast("three unexpected faults within a minute; q leaves in order", severity="error")

    def act(self, operation: Callable[[], Awaitable[T]], done: Callable[[T], None]) -> None:
        """Run an operation that changes something; never cancelled by leaving a screen."""

        async def run() -> None:
            try:
                done(await operation())
            except StudioApplicationError as error:
                said = failures.explain(error)
                self.toast(said.sentence, severity=said.severity)
            except Exception as error:
                self.fault(error)

        self.run_worker(run(), group="act", exit_on_error=False)

    def show_facts(self, facts: Facts) -> None:
        """New figures for the header."""
        if facts != self.facts:
            self.facts = facts
            self.update_header()

    def update_header(self) -> None:
        """Repaint the header where its text changed."""
        for screen in self.screen_stack:
            for header in screen.query(HeaderBar):
                header.update()
