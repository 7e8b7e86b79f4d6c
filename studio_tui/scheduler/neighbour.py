"""Whether something on this machine answers as a ``li studio`` daemon does (lionagi 0.36: ``GET /health``).

That is a hint and no more: the port is not a store's own, and the answer does not say which store the daemon works on.
"""

from __future__ import annotations

import http.client
import json
from typing import Final

_WITHIN: Final = 1.0
_LIMIT: Final = 4096


def peer_answers(port: int) -> bool:
    """Ask once, on loopback; blocks for a second at most."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_WITHIN)
    try:
        connection.request("GET", "/health", headers={"Accept": "application/json"})
        answer = connection.getresponse()
        body = json.loads(answer.read(_LIMIT))
        return answer.status == 200 and isinstance(body, dict) and body.get("status") == "ok"
    except (OSError, http.client.HTTPException, ValueError):
        return False
    finally:
        connection.close()
