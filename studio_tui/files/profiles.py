"""The profile that an agent has when it is started in a folder (lionagi 0.36): of the project around it, else of the user."""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from studio_tui.application.ports.schedule_sets import AgentProfile, TextFault
from studio_tui.files.frontmatter import find_front_matter, unify
from studio_tui.files.reading import read_file, why
from studio_tui.files.yaml_tree import read_tree

PROFILE_BYTES: Final = 1024 * 1024
_NAME: Final = re.compile(r"[A-Za-z0-9_-]+\Z")
_FOLDER: Final = ".lionagi"
_SETTINGS: Final = ("model", "effort", "role", "yolo", "bypass", "fast_mode")
"""What a declaration looks at; whatever else a profile says may be of any shape."""


def find_profile(name: str, directory: Path, user_home: Path) -> AgentProfile | TextFault:
    """The profile of this name for a start in ``directory``, or why there is none that can be used."""
    if "/" in name:
        return TextFault("not_supported", f"{name!r} is a profile of a plugin, which cannot be read here; copy it into agents/")
    if not _NAME.match(name):
        return TextFault("unusable", f"{name!r} is no name of a profile; allowed: letters, digits, _ and -")
    looked = []
    for folder in _folders(directory, user_home):
        found = _in_folder(folder / "agents", name)
        if len(found) > 1:
            files = " and ".join(map(str, found))
            return TextFault("ambiguous", f"{name!r} fits {files}: - and _ mean the same; remove one of them")
        if found:
            return _read(found[0])
        looked.append(str(folder / "agents"))
    places = ", ".join(looked) or f"no {_FOLDER} folder around {directory} or in {user_home}"
    return TextFault("missing", f"there is no profile {name!r}; looked in {places}")


def project_root(directory: Path) -> Path:
    """The git work tree around a folder, or the folder itself."""
    return _work_tree(directory) or directory


def _work_tree(directory: Path) -> Path | None:
    for folder in (directory, *directory.parents):
        mark = folder / ".git"
        if mark.is_file() or (mark / "HEAD").exists():
            return folder
    return None


def _folders(directory: Path, user_home: Path) -> Iterator[Path]:
    """Where profiles may be: of the work tree, from the folder upwards, of the user. The account's own is no project's."""
    tree = _work_tree(directory)
    around = [*((tree,) if tree is not None else ()), directory, *directory.parents]
    account = _account_folder()
    projects = [folder / _FOLDER for folder in around if not _is_same(folder / _FOLDER, account)]
    for folder in dict.fromkeys((*projects, user_home / _FOLDER)):
        if folder.is_dir():
            yield folder


def _account_folder() -> Path | None:
    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return None
    return Path(home) / _FOLDER if os.path.isabs(home) else None


def _is_same(folder: Path, other: Path | None) -> bool:
    return other is not None and (folder == other or os.path.realpath(folder) == os.path.realpath(other))


def _in_folder(agents: Path, name: str) -> list[Path]:
    """The file of exactly this name, else those whose name differs in ``-`` and ``_`` only."""
    spellings = dict.fromkeys((name, name.replace("-", "_"), name.replace("_", "-")))
    found = {}
    for spelling in spellings:
        places = (agents / spelling / f"{spelling}.md", agents / f"{spelling}.md")
        place = next((place for place in places if place.is_file()), None)
        if place is not None:
            found[spelling] = place
    return [found[name]] if name in found else list(found.values())


def _read(path: Path) -> AgentProfile | TextFault:
    try:
        blob = read_file(path, PROFILE_BYTES)
        text = unify(blob.data.decode("utf-8"))
    except OSError as error:
        return TextFault("unreadable", f"{path} cannot be read: {why(error)}")
    except UnicodeDecodeError:
        return TextFault("unreadable", f"{path} is not UTF-8 text")
    block = find_front_matter(text)
    if block is None or not block.yaml.strip():
        return AgentProfile()
    tree = read_tree(block.yaml)
    fault = next((fault for fault in tree.faults if _matters(fault)), None)
    if not block.closed or fault is not None:
        return TextFault("unreadable", f"{path}: {fault.message if fault is not None else 'its front matter is not closed'}")
    return _profile(tree.data if isinstance(tree.data, dict) else {})


def _matters(fault: TextFault) -> bool:
    """Whether a fault keeps a profile from being read: of what is not looked at, and of a key that comes again, none does."""
    if fault.code == "unreadable":
        return bool(fault.path) and fault.path[0] in _SETTINGS
    return fault.code in ("not_yaml", "too_large", "too_deep")


def _profile(values: dict[str, Any]) -> AgentProfile:
    switches = {name: bool(values.get(name)) for name in ("yolo", "bypass", "fast_mode")}
    return AgentProfile(model=values.get("model"), effort=values.get("effort"), role=values.get("role"), **switches)
