"""What people write on runs: tags, and a label."""

from __future__ import annotations

from pydantic import Field

from studio_tui.application.models.common import ContractModel, RunId


class RunTags(ContractModel):
    """All tags of one run in their order."""

    run_id: RunId
    tags: tuple[str, ...]


class TagCount(ContractModel):
    """One tag with its number of runs."""

    tag: str
    runs: int


class TagRun(ContractModel):
    """Write a tag on a run."""

    run_id: RunId
    tag: str = Field(min_length=1)


class UntagRun(ContractModel):
    """Take exactly this tag off a run, if it is there."""

    run_id: RunId
    tag: str


class LabelRun(ContractModel):
    """Label a run, or with ``None`` take its label off. ``expected_label`` is the one that the caller saw."""

    run_id: RunId
    label: str | None
    expected_label: str | None


class RunLabel(ContractModel):
    """The label of a run as it is stored."""

    run_id: RunId
    label: str | None
