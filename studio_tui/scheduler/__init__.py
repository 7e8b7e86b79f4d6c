"""Fires schedules: who looks, what is due, one occurrence from claim to terminal row, recovery."""
