"""Where definitions and shows are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Roots:
    """The four roots. None of them has to exist."""

    agents: Path
    playbooks: Path
    skills: Path
    shows: Path

    @classmethod
    def of(cls, home: Path, shows: Path) -> Roots:
        """The roots of a home; shows live outside it (``LIONAGI_SHOWS_ROOT``, lionagi 0.36)."""
        return cls(agents=home / "agents", playbooks=home / "playbooks", skills=home / "skills", shows=shows)

    def of_kind(self, kind: str) -> Path:
        """The root of ``agent``, ``playbook`` or ``skill``. Raises :class:`KeyError` for any other kind."""
        return {"agent": self.agents, "playbook": self.playbooks, "skill": self.skills}[kind]
