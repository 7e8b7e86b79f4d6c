"""From stored messages to what a reader sees: the five classes of lionagi 0.36, and whatever else is found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from studio_tui.application.models.runs import MessageKind, MessageView
from studio_tui.application.moments import Times
from studio_tui.application.wellformed import mended
from studio_tui.domain.runs import MessageRecord

TEXT_LIMIT: Final = 65_536
"""The longest text of one field, in characters; the rest is cut and its size said."""

WITHHELD_FROM: Final = 1_048_576
"""Bodies above this many bytes are not read (lionagi 0.36)."""

_KINDS: Final[Mapping[str, MessageKind]] = MappingProxyType(
    {
        "System": "system",
        "Instruction": "instruction",
        "AssistantResponse": "assistant",
        "ActionRequest": "tool_call",
        "ActionResponse": "tool_result",
    }
)
_PRUNED: Final = "lion_content_pruned"


def paired(views: Sequence[MessageView]) -> tuple[MessageView, ...]:
    """The messages of a window in their order; calls and results that stand together name each other."""
    answers = {view.call_id: view.message_id for view in views if view.kind == "tool_result" and view.call_id}
    return tuple(
        view.model_copy(update={"call_id": answers[view.message_id]})
        if view.kind == "tool_call" and view.call_id is None and view.message_id in answers
        else view
        for view in views
    )


def message_view(message: MessageRecord) -> MessageView:
    """One message, ready to draw."""
    class_name = message.lion_class.rsplit(".", 1)[-1]
    kind = _KINDS.get(class_name, "unknown")
    fields: dict[str, Any] = {
        "message_id": message.message_id,
        "kind": kind,
        "at": Times().read("created_at", message.created_at),
        "sender": message.sender,
        "size_bytes": message.size_bytes,
    }
    content = message.content
    if content is None:
        fields |= _unreadable(message)
    elif (pruned := _pruned_bytes(content)) is not None:
        fields["pruned_bytes"] = pruned
    else:
        fields |= _readers()[kind](content) if kind != "unknown" else _unknown(class_name or message.role, content)
    return MessageView.model_validate(fields)


def compact(value: object) -> str:
    """A value as text: text as it is, anything else as JSON without blanks; cut at :data:`TEXT_LIMIT`."""
    if isinstance(value, str):
        return bounded(value)
    return bounded(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))


def bounded(text: str) -> str:
    """``text``, or its beginning and a note of how long all of it is."""
    if len(text) <= TEXT_LIMIT:
        return mended(text)
    return f"{mended(text[:TEXT_LIMIT])}\n… cut here: {len(text):,} characters in all"


def _unreadable(message: MessageRecord) -> dict[str, Any]:
    if message.size_bytes > WITHHELD_FROM:
        return {"withheld_bytes": message.size_bytes}
    return {"error": "the stored body of this message cannot be read"}


def _pruned_bytes(content: Mapping[str, object]) -> int | None:
    """The size of a body that retention has reclaimed: its content is then exactly one marker (lionagi 0.36)."""
    marker = content.get(_PRUNED) if len(content) == 1 else None
    if not isinstance(marker, Mapping):
        return None
    size = marker.get("original_bytes")
    return max(0, size) if isinstance(size, int) and not isinstance(size, bool) else 0


def _readers() -> Mapping[str, Any]:
    return {
        "system": _system,
        "instruction": _instruction,
        "assistant": _assistant,
        "tool_call": _tool_call,
        "tool_result": _tool_result,
    }


def _system(content: Mapping[str, object]) -> dict[str, Any]:
    return {"text": _text(content.get("system_message"))}


def _instruction(content: Mapping[str, object]) -> dict[str, Any]:
    """What was asked, then what came with it; tool schemas and images only by their number."""
    asked = content.get("plain_content") or content.get("instruction")
    parts = [_text(asked)]
    if guidance := content.get("guidance"):
        parts.append(f"guidance: {_text(guidance)}")
    context = content.get("prompt_context")
    for entry in context if isinstance(context, list | tuple) else [context] if context else []:
        parts.append(f"context: {_text(entry)}")
    for name, key in (("tool schemas", "tool_schemas"), ("images", "images")):
        listed = content.get(key)
        if isinstance(listed, list | tuple) and listed:
            parts.append(f"{name}: {len(listed)}")
    return {"text": bounded("\n\n".join(part for part in parts if part))}


def _assistant(content: Mapping[str, object]) -> dict[str, Any]:
    return {"text": _text(content.get("assistant_response"))}


def _tool_call(content: Mapping[str, object]) -> dict[str, Any]:
    return {**_called(content), "call_id": _identifier(content.get("action_response_id"))}


def _tool_result(content: Mapping[str, object]) -> dict[str, Any]:
    error = content.get("error")
    return {
        **_called(content),
        "output": compact(content["output"]) if content.get("output") is not None else None,
        "error": compact(error) if error else None,
        "call_id": _identifier(content.get("action_request_id")),
    }


def _called(content: Mapping[str, object]) -> dict[str, Any]:
    function = content.get("function")
    arguments = content.get("arguments")
    return {
        "function": bounded(function) if isinstance(function, str) else None,
        "arguments": compact(arguments) if arguments is not None else None,
    }


def _unknown(class_name: str, content: Mapping[str, object]) -> dict[str, Any]:
    return {"text": f"{class_name or 'message'}: {compact(dict(content))}"}


def _text(value: object) -> str:
    return "" if value is None else compact(value)


def _identifier(value: object) -> str | None:
    return mended(value) if isinstance(value, str) and value else None
