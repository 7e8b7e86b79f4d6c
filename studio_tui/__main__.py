"""``studio-tui`` and ``python -m studio_tui``."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    # Imports make objects that stay: collecting meanwhile costs a seventh of the start. Bootstrap turns it on again.
    gc.disable()
    from studio_tui.cli.main import run

    code = run(sys.argv[1:])
    # Whatever is left goes with the process; looking through it once more costs as much as a command's own work.
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
