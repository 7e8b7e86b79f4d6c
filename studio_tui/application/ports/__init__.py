"""What the operations need from the outside, shaped by capability (ADR-0078 D3).

Ports speak in domain records. Adapters raise only the errors of :mod:`studio_tui.application.errors`; those that read a store
raise :class:`StateUnavailable` when it cannot answer.
"""

from studio_tui.application.ports.firing import HostRecord as HostRecord
from studio_tui.application.ports.firing import LeasePort as LeasePort
from studio_tui.application.ports.firing import Limits as Limits
from studio_tui.application.ports.firing import Occurrence as Occurrence
from studio_tui.application.ports.firing import Outcome as Outcome
from studio_tui.application.ports.firing import Refusal as Refusal
from studio_tui.application.ports.firing import SchedulerHostPort as SchedulerHostPort
from studio_tui.application.ports.firing import SchedulerStateService as SchedulerStateService
from studio_tui.application.ports.firing import Spend as Spend
from studio_tui.application.ports.library import DefinitionFilesPort as DefinitionFilesPort
from studio_tui.application.ports.library import DefinitionHistoryPort as DefinitionHistoryPort
from studio_tui.application.ports.library import ShowFilesPort as ShowFilesPort
from studio_tui.application.ports.library import ShowReadPort as ShowReadPort
from studio_tui.application.ports.polls import CursorMove as CursorMove
from studio_tui.application.ports.polls import PollStatePort as PollStatePort
from studio_tui.application.ports.polls import RefusedEvent as RefusedEvent
from studio_tui.application.ports.processes import LaunchedProcess as LaunchedProcess
from studio_tui.application.ports.processes import LaunchNote as LaunchNote
from studio_tui.application.ports.processes import LaunchNotePort as LaunchNotePort
from studio_tui.application.ports.processes import LaunchSpec as LaunchSpec
from studio_tui.application.ports.processes import NotWanted as NotWanted
from studio_tui.application.ports.processes import OutputTail as OutputTail
from studio_tui.application.ports.processes import ProcessPort as ProcessPort
from studio_tui.application.ports.processes import RunLogPort as RunLogPort
from studio_tui.application.ports.processes import StopReport as StopReport
from studio_tui.application.ports.runs import MessageReadPort as MessageReadPort
from studio_tui.application.ports.runs import OverviewReadPort as OverviewReadPort
from studio_tui.application.ports.runs import RunFilter as RunFilter
from studio_tui.application.ports.runs import RunReadPort as RunReadPort
from studio_tui.application.ports.runs import RunSlice as RunSlice
from studio_tui.application.ports.schedule_facts import GateFacts as GateFacts
from studio_tui.application.ports.schedule_facts import ScheduleFactsPort as ScheduleFactsPort
from studio_tui.application.ports.schedule_facts import Vanishing as Vanishing
from studio_tui.application.ports.schedules import ActProvenance as ActProvenance
from studio_tui.application.ports.schedules import NewSchedule as NewSchedule
from studio_tui.application.ports.schedules import ScheduleReadPort as ScheduleReadPort
from studio_tui.application.ports.schedules import ScheduleWritePort as ScheduleWritePort
from studio_tui.application.ports.surroundings import ChangeFeed as ChangeFeed
from studio_tui.application.ports.surroundings import Clock as Clock
from studio_tui.application.ports.surroundings import SidecarPort as SidecarPort
from studio_tui.application.ports.surroundings import StoreCondition as StoreCondition
from studio_tui.application.ports.surroundings import StorePort as StorePort
from studio_tui.application.ports.thresholds import MetricPort as MetricPort
from studio_tui.application.ports.thresholds import ThresholdPort as ThresholdPort
from studio_tui.domain.identity import ProcessIdentity as ProcessIdentity
