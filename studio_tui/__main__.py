"""``studio-tui`` and ``python -m studio_tui``."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    # Imports make objects that stay: collecting meanwhile costs a seventh of the start. Bootstrap turns it on again.
    gc.disable()
    from studio_tui.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
