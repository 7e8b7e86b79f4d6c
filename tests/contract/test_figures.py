"""τ of ADR-0078: the share of the ways to fail that tests really take, over the operations that have them.

The markers are those of the tests as pytest collects them; a marker that a test does not live up to fails that test
(``tests/application/covering.py``). Which way an operation has is declared in ``tests/application/paths.py``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.application.paths import APPLICABLE, PATHS

ROOT = Path(__file__).parents[2]
LEAST = 0.9
_COLLECTOR = """
import json, sys
import pytest

class Collector:
    def pytest_collection_finish(self, session):
        self.claims = sorted({mark.args for item in session.items for mark in item.iter_markers("covers")})

collector = Collector()
code = pytest.main(["--collect-only", "-qq", "tests/application"], plugins=[collector])
print("\\n" + json.dumps([int(code), collector.claims]))
"""


def _claims() -> set[tuple[str, str]]:
    done = subprocess.run([sys.executable, "-c", _COLLECTOR], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    code, claims = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stdout[-2_000:]
    return {(str(operation), str(path)) for operation, path in claims}


def test_tests_take_the_ways_that_operations_may_fail(capsys: pytest.CaptureFixture[str]) -> None:
    claimed = _claims()
    wanted = {(operation, path) for operation, paths in APPLICABLE.items() for path in paths}
    assert claimed <= wanted, f"no way of these operations: {sorted(claimed - wanted)}"
    tau = {path: _share(claimed, {pair for pair in wanted if pair[1] == path}) for path in PATHS}
    whole = _share(claimed, wanted)
    with capsys.disabled():
        words = ", ".join(f"{path} {share:.2f}" for path, share in tau.items())
        print(f"\nerror paths τ = {len(claimed & wanted)}/{len(wanted)} = {whole:.3f} (at least {LEAST}): {words}")
    assert min(whole, *tau.values()) >= LEAST, f"no test takes {sorted(wanted - claimed)}"


def _share(claimed: set[tuple[str, str]], wanted: set[tuple[str, str]]) -> float:
    return len(claimed & wanted) / len(wanted)
