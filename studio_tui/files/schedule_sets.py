"""Files of declared schedules: reads sets, and the flows and profiles that they name; writes exported ones whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from studio_tui.application.errors import Conflict, NotFound, StateUnavailable
from studio_tui.application.ports.schedule_sets import AgentProfile, SetFile, TextFault
from studio_tui.files.frontmatter import unify
from studio_tui.files.profiles import find_profile, project_root
from studio_tui.files.reading import read_file, why
from studio_tui.files.yaml_tree import read_tree

MAX_BYTES: Final = 1024 * 1024
"""A longer set, or a longer flow, is not read: parsing takes time by length."""


class SetFiles:
    """Implements :class:`~studio_tui.application.ports.schedule_sets.SetFilesPort`. It blocks: call it in a thread."""

    def __init__(self, user_home: Path) -> None:
        """``user_home`` is the folder whose ``.lionagi`` holds the user's own profiles."""
        self._user_home = user_home

    def read_set(self, path: str) -> SetFile:
        """The document in a file. Raises :class:`NotFound`."""
        if "\0" in path:  # no system has a file of such a name
            raise NotFound("file", path)
        directory = os.path.dirname(os.path.realpath(path))
        try:
            text = _text(path)
        except FileNotFoundError:
            raise NotFound("file", path) from None
        if isinstance(text, TextFault):
            return SetFile(path, directory, faults=(text,))
        tree = read_tree(unify(text))
        return SetFile(path, directory, tree.data, tree.lines, tree.faults)

    def resolve(self, path: str, directory: str) -> str:
        """The absolute path without links that ``path`` means in ``directory``."""
        return os.path.realpath(os.path.join(directory, path))

    def project_root(self, directory: str) -> str:
        """The git work tree around a folder, or the folder itself."""
        return os.path.realpath(project_root(Path(directory)))

    def text_of(self, path: str) -> str | TextFault:
        """The text of a flow's file, or why it cannot be read."""
        try:
            return _text(path)
        except FileNotFoundError:
            return TextFault("missing", f"there is no file {path}")

    def profile(self, name: str, directory: str) -> AgentProfile | TextFault:
        """The profile that an agent of this name has when it is started in ``directory``, or why there is none."""
        return find_profile(name, Path(directory), self._user_home)

    def write(self, texts: Mapping[str, str], *, overwrite: bool) -> None:
        """Write files, each whole or not at all, by absolute path.

        Raises :class:`Conflict`, before anything is written, when one is there already and must not be written over, and
        :class:`StateUnavailable` when the disk refuses.
        """
        there = next((path for path in texts if os.path.lexists(path)), None)
        if there is not None and not overwrite:
            message = f"{there} is there already; name another file, or say that it may be written over"
            raise Conflict("file", expected=None, actual=there, message=message)
        for path, text in texts.items():
            try:
                _replace(Path(path), text)
            except OSError as error:
                raise StateUnavailable(f"{path} cannot be written: {why(error)}", retryable=True) from None


def _text(path: str) -> str | TextFault:
    """The text of a file with ``\\n`` line ends. Raises :class:`FileNotFoundError`."""
    try:
        blob = read_file(path, MAX_BYTES)
        if blob.complete:
            return blob.data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
        return TextFault("too_large", f"{path} has {blob.status.st_size:,} bytes; at most {MAX_BYTES:,} are allowed")
    except FileNotFoundError:
        raise
    except UnicodeDecodeError as error:
        line = blob.data[: error.start].count(b"\n") + 1
        return TextFault("not_text", f"not UTF-8 text: byte {blob.data[error.start]:#04x}", line)
    except (OSError, ValueError) as error:
        return TextFault("unreadable", f"cannot be read: {why(error) if isinstance(error, OSError) else 'it has no such name'}")


def _replace(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644 if not path.exists() else path.stat().st_mode & 0o777)
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
