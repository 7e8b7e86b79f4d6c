"""A terminal console for lionagi's local state: runs, shows, schedules and definitions."""

__version__ = "0.1.0"
