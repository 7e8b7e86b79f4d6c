"""Pictures of the running console on the demo's home, as SVG files: what the README shows."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from studio_tui.bootstrap import open_console
from studio_tui.demo.home import build_demo
from studio_tui.demo.start import demo_flags
from studio_tui.settings import load_settings
from studio_tui.tui.app import StudioApp

_FONT_FACES: Final = re.compile(r"@font-face\s*\{[^}]*\}\s*")
"""Fonts from the network: a picture must not ask for them."""
_PATIENCE: Final = 20.0
_FIRED: Final = 7.0
"""Seconds until the demo's clock schedule has fired once."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: its name, the keys that lead there from the first screen, and a text that says it is there."""

    name: str
    keys: Sequence[str]
    shows: str


SIZES: Final = ((80, 24), (120, 40), (200, 60))
PICTURES: Final = (
    Picture("runs", (), "took"),
    Picture("run", ("down", "down", "enter"), "assistant"),
    Picture("schedules", ("3",), "last ten"),
    Picture("history", ("3", "enter"), "reason or output"),
    Picture("shows", ("2",), "merged"),
    Picture("show", ("2", "enter"), "plays merged"),
    Picture("definitions", ("4",), "drift"),
    Picture("definition", ("4", "enter"), "version"),
)


async def take_pictures(folder: Path, home: Path, flags: Mapping[str, object], said: Callable[[str], object]) -> None:
    """Make the demo in ``home`` and write every picture to ``folder``, which is there; ``said`` gets the path of each."""
    settings = load_settings(demo_flags(flags, home))
    await build_demo(settings.home, now=time.time(), zone=settings.zone())
    async with open_console(settings, lambda _line: None) as studio:
        await asyncio.sleep(_FIRED)

        async def opened() -> Any:
            return studio

        for theme in ("dark", "light"):
            for columns, rows in SIZES if theme == "dark" else SIZES[1:2]:
                for picture in PICTURES if theme == "dark" else PICTURES[:1]:
                    app = StudioApp(opened, home_label="demo", theme=theme)
                    path = folder / f"{picture.name}{'-light' if theme == 'light' else ''}-{columns}x{rows}.svg"
                    path.write_text(await _picture(app, picture, (columns, rows)))
                    said(str(path))


async def _picture(app: StudioApp, picture: Picture, size: tuple[int, int]) -> str:
    async with app.run_test(size=size) as pilot:
        await _until(app, "took")
        for key in picture.keys:
            await pilot.press(key)
            await pilot.pause(0.3)
        await _until(app, picture.shows)
        await pilot.pause(0.5)
        return _FONT_FACES.sub("", app.export_screenshot(title="studio-tui"))


async def _until(app: StudioApp, text: str) -> None:
    end = time.monotonic() + _PATIENCE
    while text not in _shown(app):
        if time.monotonic() > end:
            raise TimeoutError(f"{text!r} did not appear")
        await asyncio.sleep(0.05)


def _shown(app: StudioApp) -> str:
    return app.export_screenshot().replace("&#160;", " ")
