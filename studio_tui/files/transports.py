"""The key ``dispatch.notify_template`` of the user's settings file (lionagi 0.36).

Only the user's own file counts. lionagi also reads the one of the directory in which its daemon was started; a folder that
somebody happens to stand in must not decide what a host executes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from studio_tui.application.ports.commands import Transport
from studio_tui.domain.transports import template_fault
from studio_tui.files.frontmatter import unify
from studio_tui.files.reading import read_file, why
from studio_tui.files.yaml_tree import read_tree

KEY: Final = "dispatch.notify_template"
_MAX_BYTES: Final = 1024 * 1024


class TransportFile:
    """Implements :class:`~studio_tui.application.ports.commands.TransportPort`; the file is parsed again when it has changed."""

    def __init__(self, user_home: Path) -> None:
        self._path = user_home / ".lionagi" / "settings.yaml"
        self._seen: tuple[int, int, int] | None = None
        self._found = Transport()

    def transport(self) -> Transport:
        """What is configured now."""
        try:
            status = self._path.stat()
            seen = (status.st_mtime_ns, status.st_size, status.st_ino)
            if seen != self._seen:
                self._found, self._seen = self._read(), seen
        except FileNotFoundError:
            return self._none("there is no such file")
        except OSError as error:
            return self._none(f"it cannot be read: {why(error)}")
        return self._found

    def _read(self) -> Transport:
        blob = read_file(self._path, _MAX_BYTES)
        if not blob.complete:
            return self._none("the file is too long to be read")
        tree = read_tree(unify(blob.data.decode("utf-8", "replace")))
        if any(fault.code != "empty" for fault in tree.faults):
            return self._none(tree.faults[0].message)
        template = _member(_member(tree.data, "dispatch"), "notify_template")
        if template is None:
            return self._none("the key is not there")
        fault = template_fault(template)
        return self._none(f"it {fault}") if fault else Transport(tuple(template))

    def _none(self, why_not: str) -> Transport:
        return Transport(problem=f"no {KEY} in {self._path}: {why_not}")


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
