"""Approvals: what may be done once, who allowed it, and the chain of evidence that shows it (lionagi 0.36, approvals).

Every change of an approval leaves one line of evidence. The lines of all approvals form one chain: each is numbered, and its
hash covers the hash before it, so that a line which was changed, removed or slipped in later breaks the chain there.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

TTL: Final = 300.0
"""Seconds that a proposal, and then its grant, may be acted on; counted from the proposal."""

GENESIS: Final = "0" * 64
"""What the first line of evidence has in place of the hash before it."""

ACTION_KIND_LIMIT: Final = 128
REASON_CLASSES: Final = ("security", "policy", "mistake", "other")
WAITING: Final = ("pending", "granted")
DECIDED: Final = ("denied", "consumed", "expired")
EVENT_OF: Final = MappingProxyType({"pending": "proposed", **{status: status for status in ("granted", *DECIDED)}})
"""The event that evidence names for each status."""

HASHED: Final = (
    "id",
    "sequence",
    "event_type",
    "approval_id",
    "action_kind",
    "status_from",
    "status_to",
    "params_hash",
    "justification_class",
    "justification_reason",
    "created_at",
)
"""The columns that a line's own hash covers."""


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    """One approval as stored. Times are epoch seconds. What was asked for is kept as a hash only."""

    approval_id: str
    action_kind: str
    params_hash: str
    session_id: str | None
    status: str
    proposed_at: float | None
    granted_at: float | None
    consumed_at: float | None
    expires_at: float | None
    defects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceRecord:
    """One line of the chain, for reading. Times are epoch seconds."""

    evidence_id: str
    sequence: int
    event_type: str
    approval_id: str
    action_kind: str
    status_from: str | None
    status_to: str
    params_hash: str
    justification_class: str | None
    justification_reason: str | None
    created_at: float | None
    chain_hash: str
    signed: bool
    defects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What checking the chain came to. ``first_break`` says at which line it breaks first, and how; ``None``: it holds."""

    entries: int
    last_sequence: int
    broken: int
    first_break: str | None

    @property
    def valid(self) -> bool:
        """Whether every line is in order."""
        return self.broken == 0


def params_hash(params: Mapping[str, object]) -> str:
    """The hash by which an approval is bound to what was asked for. Raises :class:`ValueError` for what is no JSON."""
    try:
        return _digest(json.dumps(params, sort_keys=True, separators=(",", ":"), allow_nan=False))
    except TypeError as error:
        raise ValueError("the parameters cannot be written as JSON") from error


def is_lapsed(approval: ApprovalRecord, now: float) -> bool:
    """Whether its time ran out without anybody having written that down yet."""
    return approval.status in WAITING and approval.expires_at is not None and now > approval.expires_at


def standing(approval: ApprovalRecord, now: float) -> str:
    """The status to show: a lapsed one is expired, also where that cannot be written down (a read-only store)."""
    return "expired" if is_lapsed(approval, now) else approval.status


def sealed(line: Mapping[str, object], previous_hash: str, key: str | None) -> dict[str, object]:
    """A line of evidence (the columns of :data:`HASHED`) with its hashes and, with a key, its signature."""
    content = content_hash(line)
    chain = chain_hash(content, previous_hash)
    signature = None if key is None else signature_of(chain, line["created_at"], key)
    return {**line, "content_hash": content, "previous_hash": previous_hash, "chain_hash": chain, "hmac_sig": signature}


def content_hash(line: Mapping[str, object]) -> str:
    """The hash of a line's own columns. ``created_at`` is part of it exactly as Python writes the stored number."""
    return _digest(json.dumps({name: line[name] for name in HASHED}, sort_keys=True, separators=(",", ":")))


def chain_hash(content: str, previous_hash: str) -> str:
    """The hash that binds a line to the one before it."""
    return _digest(content + previous_hash)


def signature_of(chain: str, created_at: object, key: str) -> str:
    """The signature of a line by a key that the store does not hold."""
    return hmac.new(key.encode(), f"{chain}{created_at}".encode(), hashlib.sha256).hexdigest()


class ChainCheck:
    """Checks lines of the chain, given one after the other from the first; columns as they are stored, unread and uncorrected."""

    def __init__(self, key: str | None) -> None:
        self._key = key
        self._previous: object = GENESIS
        self._entries = self._broken = 0
        self._last = 0
        self._first_break: str | None = None

    def add(self, line: Mapping[str, Any]) -> None:
        """The next line in the order of ``sequence``."""
        self._entries += 1
        fault = self._fault(line)
        if fault is not None:
            self._broken += 1
            self._first_break = self._first_break or f"line {line['sequence']}: {fault}"
        self._previous = line["chain_hash"]
        self._last = line["sequence"] if isinstance(line["sequence"], int) else self._last

    def report(self) -> ChainReport:
        """What the lines so far came to."""
        return ChainReport(self._entries, self._last, self._broken, self._first_break)

    def _fault(self, line: Mapping[str, Any]) -> str | None:
        if line["sequence"] != self._entries:
            return f"line {self._entries} is missing"
        try:
            content = content_hash(line)
        except (TypeError, ValueError):
            return "it holds what no line holds"
        if content != line["content_hash"]:
            return "its content was changed"
        if line["previous_hash"] != self._previous:
            return "it does not follow the line before it"
        if chain_hash(content, line["previous_hash"]) != line["chain_hash"]:
            return "its chain hash was changed"
        return None if self._key is None else _signature_fault(line, self._key)


def _signature_fault(line: Mapping[str, Any], key: str) -> str | None:
    """A signed chain takes no line without a signature: removing one must not make a forged line pass."""
    if line["hmac_sig"] is None:
        return "it is not signed"
    expected = signature_of(line["chain_hash"], line["created_at"], key)
    return (
        None if hmac.compare_digest(expected.encode(), str(line["hmac_sig"]).encode()) else "its signature is not that of the key"
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
