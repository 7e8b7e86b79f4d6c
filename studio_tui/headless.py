"""Hosts the scheduler without a screen: lines on standard output, and an orderly end on TERM, INT and HUP."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from studio_tui.application.hosting import HostService
from studio_tui.application.text import clean
from studio_tui.bootstrap import open_console
from studio_tui.logs import log_to_terminal, masked
from studio_tui.settings import load_settings
from studio_tui.settings_model import Settings

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_LOOK_EVERY: Final = 1.0


def host_until_told(flags: Mapping[str, object], duration: float | None) -> None:
    """Host, or stand by, until a signal comes or ``duration`` seconds are over. Raises the closed errors."""
    settings = load_settings(flags)
    gc.enable()
    asyncio.run(_host(settings, duration))


async def _host(settings: Settings, duration: float | None) -> None:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, told.set)
    for sentence in settings.warnings:
        _say(sentence)
    async with open_console(settings, _say, ask=False) as studio:
        log_to_terminal("studio_tui.scheduler")
        status = studio.store.status()
        _say(f"store {status.label}: {status.mode}" + (f", {status.reason}" if status.reason else ""))
        telling = asyncio.create_task(_tell_state(studio.host))
        with suppress(TimeoutError):
            await asyncio.wait_for(told.wait(), duration)
        telling.cancel()
    _say("stopped")


async def _tell_state(host: HostService) -> None:
    """Say when this process begins to stand by, and why; its log says when it hosts."""
    before = None
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        status = host.status()
        now = (status.state, status.holder or status.reason)
        if now != before and status.state != "hosting":
            _say(": ".join(filter(None, now)))
        before = now


def _say(sentence: str) -> None:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    sys.stdout.write(f"{stamp} {clean(masked(sentence))}\n")
    sys.stdout.flush()
