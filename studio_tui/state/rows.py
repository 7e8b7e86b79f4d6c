"""Row to record: which fields a record has, the columns that they come from, and their readers.

A row is selected in the order of the fields (``queries.columns.labelled`` does that), and the fields stand in the order of the
record's own: so a record is built without looking anything up by name. A statement that leaves a column out selects NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields as fields_of
from functools import lru_cache
from typing import Any, Final, Generic, NamedTuple, TypeVar

from studio_tui.domain.definitions import VersionRecord, WorkflowRecord
from studio_tui.domain.outcomes import FiringOutcome
from studio_tui.domain.runs import BranchRecord, MessageRecord, RunRecord, TransitionRecord
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord
from studio_tui.domain.shows import PlayRecord, ShowRecord
from studio_tui.state.readers import (
    PLAIN,
    Reader,
    as_argv,
    as_choice,
    as_count,
    as_epoch,
    as_flag,
    as_int,
    as_json,
    as_metadata,
    as_number,
    as_object,
    as_object_or_empty,
    as_required,
    as_target_args,
    as_text,
    as_texts,
)

R = TypeVar("R")
_SHAPES: Final = 256
"""For so many combinations of types in a row it is kept what has to be read of it. Rows of one table have a few dozen."""


class Field(NamedTuple):
    """One field of a record: the column that it comes from and how its value is read."""

    name: str
    column: str
    read: Reader


class RowReader(Generic[R]):
    """Makes records of one class from rows that were selected in the order of ``fields``.

    Raises :class:`ValueError` when the fields are not the first ones of the record, in its order.
    """

    def __init__(self, record: Callable[..., R], *groups: tuple[Reader, str]) -> None:
        self.fields: Final = tuple(_fields(groups))
        own = _names_of(record)
        if [field.name for field in self.fields] != own[: len(self.fields)]:
            raise ValueError(f"the fields are not those of {record!r} in their order")
        self._record = record
        self._tells = "defects" in own
        self._steps = lru_cache(maxsize=_SHAPES)(self._find_steps)

    def __call__(self, row: Iterable[Any], **rest: Any) -> R:
        """The record of a row; ``rest`` are fields that do not come from it."""
        values, defects = self.values(row)
        if self._tells:
            rest["defects"] = tuple(defects)
        return self._record(*values, **rest)

    def values(self, row: Iterable[Any]) -> tuple[list[Any], list[str]]:
        """The values of the fields, and the columns that could not be read."""
        values, defects = list(row), list[str]()
        for place, read, column in self._steps(tuple(map(type, values))):
            values[place] = read(values[place], column, defects)
        return values, defects

    def _find_steps(self, types: tuple[type, ...]) -> tuple[tuple[int, Reader, str], ...]:
        """Which values of a row with values of these types have to be read; the others stay as they are."""
        cells = enumerate(zip(types, self.fields, strict=True))
        return tuple(
            (place, field.read, field.column) for place, (kind, field) in cells if kind not in PLAIN.get(field.read, frozenset())
        )


def _names_of(record: Callable[..., object]) -> list[str]:
    """The fields of a record, a dataclass or a named tuple."""
    return list(getattr(record, "_fields", None) or (field.name for field in fields_of(record)))  # type: ignore[arg-type]


def _fields(groups: Iterable[tuple[Reader, str]]) -> Iterable[Field]:
    """Fields from ``(reader, "field field=column …")``."""
    for read, names in groups:
        for entry in names.split():
            name, _, column = entry.partition("=")
            yield Field(name, column or name, read)


run_record: Final = RowReader(
    RunRecord,
    (as_required, "run_id=id"),
    (as_epoch, "created_at updated_at"),
    (as_text, "status name user_label show_topic show_play_name playbook_name agent_name"),
    (as_text, "kind=invocation_kind source_kind invocation_id project project_source model provider effort agent_hash"),
    (as_epoch, "started_at ended_at"),
    (as_flag, "ended_at_is_approximate"),
    (as_epoch, "last_message_at"),
    (as_text, "current_phase reason_code=status_reason_code reason_summary=status_reason_summary"),
    (as_int, "input_tokens output_tokens"),
    (as_number, "total_cost_usd"),
    (as_int, "num_turns"),
    (as_number, "duration_ms"),
    (as_text, "artifacts_path progression_id"),
    (as_choice, "has_messages"),
    (as_metadata, "metadata=node_metadata"),
    (as_object, "verification=artifact_verification_json contract=artifact_contract_json"),
)
branch_record: Final = RowReader(
    BranchRecord,
    (as_required, "branch_id=id run_id=session_id"),
    (as_text, "name agent_name model provider status"),
    (as_epoch, "created_at started_at ended_at"),
    (as_required, "progression_id"),
    (as_text, "system_message_id=system_msg_id"),
)
message_record: Final = RowReader(
    MessageRecord,
    (as_required, "message_id=id"),
    (as_epoch, "created_at"),
    (as_required, "lion_class role"),
    (as_text, "sender recipient"),
    (as_object, "content"),
    (as_count, "size_bytes"),
)
transition_record: Final = RowReader(
    TransitionRecord,
    (as_required, "transition_id=id entity_type entity_id"),
    (as_text, "previous_status"),
    (as_required, "status reason_code"),
    (as_text, "reason_summary"),
    (as_required, "source"),
    (as_text, "actor"),
    (as_epoch, "created_at"),
)
schedule_record: Final = RowReader(
    ScheduleRecord,
    (as_required, "schedule_id=id name"),
    (as_flag, "enabled"),
    (as_required, "trigger_type action_kind"),
    (as_text, "description cron_expr"),
    (as_number, "interval_sec"),
    (as_text, "github_repo github_cursor"),
    (as_object, "github_filter"),
    (as_number, "poll_interval_sec"),
    (as_text, "action_model action_prompt action_agent action_playbook action_flow_yaml action_project action_cwd"),
    (as_texts, "action_extra_args"),
    (as_text, "action_command"),
    (as_texts, "action_command_args"),
    (as_target_args, "action_playbook_args=resolved_target"),
    (as_object, "on_success on_fail"),
    (as_epoch, "last_fired_at next_fire_at"),
    (as_required, "missed_fire_policy overlap_policy"),
    (as_int, "max_runs"),
    (as_number, "budget_usd"),
    (as_int, "budget_tokens"),
    (as_object, "rate_limit threshold_config"),
    (as_epoch, "last_healthy_poll_at last_evaluated_at last_alert_at"),
    (as_count, "poller_consecutive_401"),
    (as_text, "predispatch_refusal_event"),
    (as_count, "predispatch_refusal_count"),
    (as_text, "project managed_by owner_key resolved_timezone effective_timezone effective_timezone_source"),
    (as_texts, "notify_on"),
    (as_text, "notify_command"),
    (as_epoch, "created_at updated_at"),
)
firing_record: Final = RowReader(
    FiringRecord,
    (as_required, "run_id=id"),
    (as_text, "schedule_id invocation_id"),
    (as_required, "status action_kind"),
    (as_epoch, "fired_at dispatched_at ended_at"),
    (as_int, "exit_code"),
    (as_text, "error_detail chain_parent_id"),
    (as_count, "chain_depth"),
    (as_text, "reason_code=status_reason_code reason_summary=status_reason_summary"),
    (as_argv, "argv=action_args"),
    (as_object_or_empty, "trigger_context"),
    (as_texts, "session_ids"),
    (as_epoch, "updated_at"),
)
firing_outcome: Final = RowReader(
    FiringOutcome,
    (as_required, "run_id=id status"),
    (as_epoch, "fired_at"),
    (as_text, "reason_code=status_reason_code"),
)
show_record: Final = RowReader(
    ShowRecord,
    (as_required, "topic"),
    (as_text, "show_id=id status goal repo base_branch integration_branch show_dir"),
    (as_epoch, "created_at updated_at"),
    (as_text, "reason_code=status_reason_code reason_summary=status_reason_summary"),
)
play_record: Final = RowReader(
    PlayRecord,
    (as_required, "name"),
    (as_text, "status"),
    (as_int, "attempt"),
    (as_text, "playbook session_id"),
    (as_epoch, "started_at ended_at"),
    (as_int, "exit_code"),
    (as_text, "worktree branch merge_sha"),
    (as_epoch, "merged_at"),
    (as_choice, "gate_passed"),
    (as_text, "gate_feedback"),
    (as_texts, "depends_on"),
    (as_count, "sort_order"),
    (as_text, "reason_code=status_reason_code reason_summary=status_reason_summary"),
    (as_flag, "attention_opt_in"),
    (as_epoch, "updated_at"),
)
version_record: Final = RowReader(
    VersionRecord,
    (as_required, "version_id=id kind name"),
    (as_count, "version"),
    (as_epoch, "created_at"),
    (as_text, "message"),
    (as_count, "content_length"),
    (as_text, "content"),
)
workflow_record: Final = RowReader(
    WorkflowRecord,
    (as_required, "workflow_id=id name"),
    (as_text, "description"),
    (as_json, "spec=spec_json"),
    (as_epoch, "created_at updated_at"),
)
