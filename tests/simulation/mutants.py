"""Deliberately broken builds: one thing each that the scheduler must not lack. The simulation has to catch every one."""

from __future__ import annotations

from tests.simulation import broken_cadence, broken_claims, broken_gates, broken_hosting, broken_rows

MUTANTS = (
    *broken_claims.MUTANTS,
    *broken_gates.MUTANTS,
    *broken_cadence.MUTANTS,
    *broken_hosting.MUTANTS,
    *broken_rows.MUTANTS,
)
