"""Lengths of time as the front ends read them, which must not reach into the domain themselves."""

from __future__ import annotations

from studio_tui.domain.durations import parse_duration as parse_duration
from studio_tui.domain.durations import short_duration as short_duration
