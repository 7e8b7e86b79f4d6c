"""Processes: start them, know them again, stop them, and keep what they wrote."""
