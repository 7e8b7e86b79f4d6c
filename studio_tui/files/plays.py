"""Reads one play of a show from its folder (lionagi 0.36, facts 9)."""

from __future__ import annotations

from studio_tui.domain.shows import PlayRecord
from studio_tui.files.contained import Entry, printable
from studio_tui.files.show_documents import OUTSIDE, JsonFile, ShowDocuments
from studio_tui.files.show_facts import block_reason, epoch, number, play_reason, text


def refusal_of(folder: Entry) -> str | None:
    """Why a folder is not entered."""
    return folder.problem or (OUTSIDE if folder.target is not None else None)


def read_play(folder: Entry, documents: ShowDocuments, order: int) -> PlayRecord:
    """One play. A broken ``_meta.json`` leaves nothing known of it but its gate."""
    name = printable(folder.name)
    refusal = refusal_of(folder)
    if refusal is not None:
        return PlayRecord(name, sort_order=order, error=refusal)
    meta = documents.json(f"{folder.path}/_meta.json")
    verdict = documents.json(f"{folder.path}/_verdict.json")
    said = meta.value
    status = text(said.get("status"))
    passed = verdict.value.get("gate_passed")
    gate_passed = passed if isinstance(passed, bool) else None
    times = [moment for moment in (meta.modified_at, verdict.modified_at) if moment is not None]
    own = folder.status.st_mtime if folder.status is not None else None
    return PlayRecord(
        name=name,
        status=status,
        attempt=number(said.get("attempt")),
        started_at=epoch(said.get("started_at")),
        ended_at=epoch(said.get("ended_at")),
        exit_code=number(said.get("exit_code")),
        worktree=text(said.get("worktree")),
        branch=text(said.get("branch")),
        merge_sha=text(said.get("merge_sha")),
        merged_at=epoch(said.get("merged_at")),
        gate_passed=gate_passed,
        gate_feedback=text(verdict.value.get("feedback")),
        sort_order=order,
        reason_code=play_reason(status, said, gate_passed=gate_passed),
        reason_summary=block_reason(said) if status == "blocked" else None,
        attention_opt_in=said.get("attention_opt_in") is True,
        updated_at=max(times, default=own),
        error=_play_problem(meta, verdict, status),
    )


def _play_problem(meta: JsonFile, verdict: JsonFile, status: str | None) -> str | None:
    if meta.problem is not None:
        return f"_meta.json: {meta.problem}"
    if status is None and meta.value.get("status") is not None:
        return "_meta.json: the status is not a word"
    return f"_verdict.json: {verdict.problem}" if verdict.problem is not None and status is not None else None
