"""The document of a declared set of schedules (lionagi 0.36, ``lionagi.io/v1alpha1``). Fields are written as in the document."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, StrictBool, StrictStr, model_validator

from studio_tui.application.models.common import ContractModel
from studio_tui.application.models.schedule_parts import Count, MissedFirePolicy, OverlapPolicy, RateLimit

Dollars = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
EndStatus = Literal["completed", "completed_empty", "failed", "timed_out", "aborted", "cancelled"]
TRIGGER_KINDS = ("cron", "every", "at", "github")


class DocumentModel(ContractModel):
    """A part of the document; its fields have the names that the document gives them."""

    model_config = ConfigDict(extra="forbid", frozen=True, serialize_by_alias=True)


class CronSpelling(DocumentModel):
    """A cron expression and the IANA zone that it is read in."""

    expression: StrictStr
    timezone: StrictStr


class GithubSpelling(DocumentModel):
    """A repository as ``owner/name``, and which of its events count."""

    repo: StrictStr
    filter: dict[str, JsonValue] | None = None


class MemberTrigger(DocumentModel):
    """When a member fires: exactly one of the four. ``every`` is a number with s, m, h or d, at most 30 days."""

    cron: CronSpelling | None = None
    every: StrictStr | None = None
    at: StrictStr | None = None
    github: GithubSpelling | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [kind for kind in TRIGGER_KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"takes exactly one of {', '.join(TRIGGER_KINDS)}; it has {' and '.join(given) or 'none'}")
        return self


class AgentTarget(DocumentModel):
    """Run an agent's profile with a prompt; ``model`` instead of the profile's own."""

    kind: Literal["agent"]
    profile: StrictStr
    prompt: StrictStr
    model: StrictStr | None = None


class FlowTarget(DocumentModel):
    """Run the flow in a file beside the document; its text is kept as it is when the set is applied."""

    kind: Literal["flow"]
    file: StrictStr
    inputs: dict[str, JsonValue] = Field(default_factory=dict)


class PlaybookTarget(DocumentModel):
    """Run a playbook with arguments."""

    kind: Literal["playbook"]
    name: StrictStr
    args: dict[str, JsonValue] = Field(default_factory=dict)


class CommandTarget(DocumentModel):
    """Run an executable of the allow-list, without a shell."""

    kind: Literal["command"]
    executable: StrictStr
    args: tuple[StrictStr, ...] = ()


Target = Annotated[AgentTarget | FlowTarget | PlaybookTarget | CommandTarget, Field(discriminator="kind")]


class Execution(DocumentModel):
    """Where a member runs. A ``project`` that is written as null means none; one that is left out, the document's."""

    cwd: StrictStr | None = None
    project: StrictStr | None = None


class SetBudget(DocumentModel):
    """What all firings of a member together may cost."""

    usd: Dollars | None = None
    tokens: Count | None = None


class Policies(DocumentModel):
    """The limits of a member."""

    missed_fire: MissedFirePolicy = Field(default="skip", alias="missedFire")
    overlap: OverlapPolicy = "skip"
    max_runs: Count | None = Field(default=None, alias="maxRuns")
    budget: SetBudget | None = None
    rate_limit: RateLimit | None = Field(default=None, alias="rateLimit")


class Notify(DocumentModel):
    """A command that runs when a firing ended in one of these ways."""

    on: tuple[EndStatus, ...]
    command: StrictStr

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if not self.on:
            raise ValueError("names no status in on; name at least one")
        if len(set(self.on)) != len(self.on):
            raise ValueError("names a status twice in on; name each once")
        if not self.command.strip():
            raise ValueError("needs a command")
        return self


class Member(DocumentModel):
    """One schedule of a set."""

    description: StrictStr | None = None
    enabled: StrictBool = True
    trigger: MemberTrigger
    target: Target
    execution: Execution = Field(default_factory=Execution)
    policies: Policies = Field(default_factory=Policies)
    notify: Notify | None = None


class SetMetadata(DocumentModel):
    """Who owns the members: ``project/name``. With ``scope: global`` their names begin with ``global/``."""

    name: StrictStr
    project: StrictStr
    scope: Literal["global"] | None = None


class SetDocument(DocumentModel):
    """A set of schedules by their keys."""

    api_version: Literal["lionagi.io/v1alpha1"] = Field(alias="apiVersion")
    kind: Literal["ScheduleSet"]
    metadata: SetMetadata
    schedules: dict[StrictStr, Member]

    @property
    def is_global(self) -> bool:
        """Whether the members belong to no project."""
        return self.metadata.scope == "global"

    @property
    def owner_key(self) -> str:
        """By what the store knows whose the members are."""
        return f"{self.metadata.project}/{self.metadata.name}"

    def name_of(self, key: str) -> str:
        """The name of a member's schedule."""
        return f"{'global' if self.is_global else self.metadata.project}/{key}"
