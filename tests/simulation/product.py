"""What is set in the product for a world: the length of its periods, and where its ids come from."""

from __future__ import annotations

import random
import uuid

import pytest

from tests.simulation.rules import Pace


def set_pace(patch: pytest.MonkeyPatch, pace: Pace) -> None:
    scheduler = "studio_tui.scheduler"
    patch.setattr(f"{scheduler}.loop.LONGEST_SLEEP", pace.longest_sleep)
    patch.setattr(f"{scheduler}.host.STALLED_AFTER", 2 * pace.longest_sleep + 15.0)
    patch.setattr(f"{scheduler}.host.TAKE_OVER_EVERY", pace.take_over)
    patch.setattr(f"{scheduler}.host.BEAT_EVERY", pace.beat)
    patch.setattr(f"{scheduler}.lease.QUIET_LIMIT", 6 * pace.beat)
    patch.setattr(f"{scheduler}.host.RECOVER_EVERY", pace.recover)
    patch.setattr(f"{scheduler}.adoption.FOLLOW_EVERY", pace.follow)
    patch.setattr(f"{scheduler}.ending.TRIM_EVERY", 1e9)  # what is written here fills no disk
    patch.setattr(f"{scheduler}.polls.poller.LOOK_EVERY", pace.longest_sleep)
    for user in ("admission", "occurrence", "loop"):
        patch.setattr(f"{scheduler}.{user}.DEFERRAL_INTERVAL", pace.defer)


def number_ids(patch: pytest.MonkeyPatch, seed: int) -> None:
    """Ids come from the seed."""
    draw = random.Random(f"{seed}/ids")

    def numbered() -> uuid.UUID:
        return uuid.UUID(int=draw.getrandbits(128), version=4)

    patch.setattr(uuid, "uuid4", numbered)
    patch.setattr("studio_tui.scheduler.engine.uuid4", numbered)
