"""All that is checked."""

from __future__ import annotations

from tests.simulation.rules import Rule
from tests.simulation.rules_cadence import Bystanders, Cadence
from tests.simulation.rules_chains import Chains
from tests.simulation.rules_gates import Gates
from tests.simulation.rules_history import Explained, History
from tests.simulation.rules_hosting import Hosting
from tests.simulation.rules_life import Launches, Reaped, Rest
from tests.simulation.rules_liveness import Liveness
from tests.simulation.rules_occurrence import Missed, Occurrences
from tests.simulation.rules_refusals import Refusals


def every_rule() -> list[Rule]:
    """One of each, for one world."""
    return [
        *(Hosting(), Bystanders(), Cadence(), Occurrences(), Missed(), Gates(), Refusals(), Chains(), Launches(), Reaped()),
        *(History(), Explained(), Liveness(), Rest()),
    ]
