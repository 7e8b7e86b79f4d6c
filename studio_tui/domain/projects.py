"""Projects: what the store knows of them, and who may change what (ADR-0077 D4; lionagi 0.36)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

STUDIO: Final = "studio"
MANUAL: Final = "manual"
"""``sessions.project_source`` of a run that somebody has put into a project."""

DECLARING: Final = ("config_toml", "global_override")
"""Sources that take the place of whatever a project's source was; any other leaves it."""

EDITABLE: Final = (STUDIO, "global_override")
CHANGEABLE: Final = ("description", "github", "path")


@dataclass(frozen=True, slots=True)
class ProjectRecord:
    """One project. Times are epoch seconds; runs belong to it by its name alone."""

    name: str
    source: str
    path: str | None
    github: str | None
    description: str | None
    created_at: float | None
    updated_at: float | None
    last_seen_at: float | None
    run_count: int = 0
    running_count: int = 0
    defects: tuple[str, ...] = ()

    @property
    def is_editable(self) -> bool:
        """Whether its description, repository and path may be changed here."""
        return self.source in EDITABLE

    @property
    def is_deletable(self) -> bool:
        """Whether it may be deleted here; its runs keep its name."""
        return self.source == STUDIO


@dataclass(frozen=True, slots=True)
class ProjectList:
    """Every project, the one that was seen last first, and how many runs belong to none."""

    projects: tuple[ProjectRecord, ...]
    unassigned: int


@dataclass(frozen=True, slots=True)
class ProjectUse:
    """Agents and playbooks of a project's runs, each with its number of runs, the most used first."""

    agents: tuple[tuple[str, int], ...]
    playbooks: tuple[tuple[str, int], ...]
