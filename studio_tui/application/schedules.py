"""Schedules: looking at them, changing them, and why they fire or do not (ADR-0078 D2, D4)."""

from __future__ import annotations

from studio_tui.application.schedule_acting import ScheduleActing
from studio_tui.application.schedule_explaining import ScheduleExplaining
from studio_tui.application.schedule_reading import ScheduleReading


class ScheduleService(ScheduleReading, ScheduleActing, ScheduleExplaining):
    """Schedules and their firings as screens and commands see them."""
