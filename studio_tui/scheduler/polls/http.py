"""One GET at a time, with everything that may go wrong on the way put into words. The only module that knows the HTTP library."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    import httpx

_LARGEST: Final = 32 * 1024 * 1024
_REDIRECTS: Final = frozenset({301, 302, 307, 308})
_MOST_REDIRECTS: Final = 3


class NoAnswer(Exception):
    """Nothing that can be used came back; the message says why, without the address's secrets."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. Header names are in lower case; ``url`` is where it came from."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: how long the other side may be silent, and how long one answer may take altogether."""

    silence: float = 15.0
    altogether: float = 45.0


class Http:
    """Asks one host only: ``base`` (scheme, host, port). Whoever sends us elsewhere is refused."""

    def __init__(self, base: str, patience: Patience) -> None:
        self._origin, self._patience = _origin(base), patience
        self._client: httpx.AsyncClient | None = None

    async def get(self, url: str, headers: Mapping[str, str], query: Mapping[str, str]) -> Reply:
        """The reply, whatever its status. Raises :class:`NoAnswer`."""
        import httpx

        try:
            async with asyncio.timeout(self._patience.altogether):
                return await self._follow(url, headers, query)
        except (TimeoutError, httpx.TimeoutException):
            raise NoAnswer("gave no whole answer in time") from None
        except httpx.ConnectError:
            raise NoAnswer("cannot be reached") from None
        except (httpx.ProtocolError, httpx.NetworkError):
            raise NoAnswer("broke off in the middle of its answer") from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as failure:
            raise NoAnswer(f"could not be asked ({type(failure).__name__})") from None

    def is_here(self, url: str) -> bool:
        """Whether an address is of the host that is asked."""
        return _origin(url) == self._origin

    async def close(self) -> None:
        """Let the connections go; the next question opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _follow(self, url: str, headers: Mapping[str, str], query: Mapping[str, str]) -> Reply:
        for _ in range(_MOST_REDIRECTS + 1):
            reply = await self._once(url, headers, query)
            target = reply.headers.get("location")
            if reply.status not in _REDIRECTS or not target:
                return reply
            url = urljoin(url, target)
            if not self.is_here(url):
                raise NoAnswer(f"sends the poll on to another host ({urlsplit(url).hostname}), which is refused")
            query = {} if urlsplit(url).query else query
        raise NoAnswer("sends the poll round in circles")

    async def _once(self, url: str, headers: Mapping[str, str], query: Mapping[str, str]) -> Reply:
        body = bytearray()
        async with self._opened().stream("GET", url, headers=dict(headers), params=dict(query) or None) as response:
            async for part in response.aiter_bytes():
                body += part
                if len(body) > _LARGEST:
                    raise NoAnswer(f"answers with more than {_LARGEST // 1024 // 1024} MiB")
            found = {name.lower(): value for name, value in response.headers.items()}
            return Reply(response.status_code, found, bytes(body), str(response.url))

    def _opened(self) -> httpx.AsyncClient:
        if self._client is None:
            import httpx

            self._client = httpx.AsyncClient(timeout=self._patience.silence, follow_redirects=False)
        return self._client


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, port
