"""The operations of the program, built once and handed to both front ends."""

from __future__ import annotations

from dataclasses import dataclass

from studio_tui.application.definitions import DefinitionService
from studio_tui.application.doctor import DoctorService
from studio_tui.application.hosting import HostService
from studio_tui.application.overview import OverviewService
from studio_tui.application.ports import ChangeFeed, Clock
from studio_tui.application.runs import RunService
from studio_tui.application.schedules import ScheduleService
from studio_tui.application.shows import ShowService
from studio_tui.application.store import StoreService


@dataclass(frozen=True, slots=True)
class Studio:
    """Everything that a screen or a command may ask or do."""

    runs: RunService
    schedules: ScheduleService
    shows: ShowService
    definitions: DefinitionService
    host: HostService
    store: StoreService
    overview: OverviewService
    doctor: DoctorService
    changes: ChangeFeed
    clock: Clock
