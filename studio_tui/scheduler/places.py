"""Where a firing runs and what it starts: working directories and executables. Looks at paths, and at nothing else."""

from __future__ import annotations

import os
from collections.abc import Sequence

from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.contract import WORKING_DIRECTORY_VARIABLE
from studio_tui.scheduler.refusal import FAILED, NO_DIRECTORY, LaunchRefused


def resolve_cwd(schedule: ScheduleRecord, *, project_path: str | None, fallback: str | None) -> str:
    """The directory that a firing runs in: never the one that the console happens to be in.

    The schedule's own directory, else the registered path of its project (``project_path``), else, for a schedule that names
    neither, ``fallback`` (``LIONAGI_SCHEDULER_CWD``). Raises :class:`LaunchRefused` naming what was tried.
    """
    configured = schedule.action_cwd is not None or schedule.action_project is not None
    if configured:
        candidates = {"directory": schedule.action_cwd, f"path of project {schedule.action_project!r}": project_path}
    else:
        candidates = {WORKING_DIRECTORY_VARIABLE: fallback}
    tried = []
    for what, path in candidates.items():
        if path is None:
            continue
        fault = directory_fault(path)
        if fault is None:
            return path
        tried.append(f"{what} {path!r} {fault}")
    if schedule.action_project is not None and project_path is None:
        tried.append(f"project {schedule.action_project!r} has no registered path")
    if tried:
        raise LaunchRefused(NO_DIRECTORY, "; ".join(tried))
    raise LaunchRefused(
        NO_DIRECTORY,
        f"the schedule names no directory and no project; give it one, or set {WORKING_DIRECTORY_VARIABLE}",
    )


def directory_fault(path: str) -> str | None:
    """Why nothing can be run in ``path``, or ``None``."""
    if not os.path.isabs(path):
        return "is not an absolute path"
    if "\0" in path or not os.path.exists(path):
        return "does not exist"
    if not os.path.isdir(path):
        return "is not a directory"
    return None if os.access(path, os.X_OK) else "may not be entered"


def resolve_li(search_path: str | None, python: str) -> tuple[str, ...]:
    """How to start the command line of lionagi: ``li`` on the PATH, else ``li`` beside the running Python.

    Raises :class:`LaunchRefused` naming the places tried.
    """
    places = [*_folders(search_path), *([os.path.dirname(python)] if os.path.isabs(python) else [])]
    return (_find("li", places, f"beside {python}" if os.path.isabs(python) else ""),)


def resolve_command(name: str, search_path: str | None) -> str:
    """The executable that a bare command name means on the host's PATH. Raises :class:`LaunchRefused` naming the places tried."""
    return _find(name, _folders(search_path), "")


def _folders(search_path: str | None) -> list[str]:
    """The absolute folders of a PATH: a relative one would mean another place in each working directory."""
    return [folder for folder in (search_path or "").split(os.pathsep) if os.path.isabs(folder)]


def _find(name: str, folders: Sequence[str], also: str) -> str:
    unusable = []
    for folder in folders:
        candidate = os.path.join(folder, name)
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
        if os.path.islink(candidate) and not os.path.exists(candidate):
            unusable.append(f"{candidate} is a broken link")
        elif os.path.isfile(candidate):
            unusable.append(f"{candidate} is not executable")
    looked = ", ".join(dict.fromkeys(folders)) or "nowhere: PATH is empty"
    found = f" ({'; '.join(unusable)})" if unusable else ""
    raise LaunchRefused(FAILED, f"no executable {name!r} found{found}; looked in {looked}{f' ({also})' if also else ''}")
