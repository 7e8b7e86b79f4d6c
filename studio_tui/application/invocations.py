"""What started runs, and how those runs do."""

from __future__ import annotations

from studio_tui.application.errors import NotFound
from studio_tui.application.guard import guarded
from studio_tui.application.models.common import Page
from studio_tui.application.models.invocations import InvocationDetail, InvocationQuery, InvocationSummary
from studio_tui.application.pages import page_of
from studio_tui.application.ports.invocations import InvocationFilter, InvocationReadPort
from studio_tui.application.views import M, view
from studio_tui.domain.invocations import InvocationRecord
from studio_tui.domain.runs import effective_status


@guarded
class InvocationService:
    """Invocations as screens and commands see them."""

    def __init__(self, *, invocations: InvocationReadPort) -> None:
        self._invocations = invocations

    async def list_invocations(self, query: InvocationQuery) -> Page[InvocationSummary]:
        """A page of invocations, the newest change first."""
        where = InvocationFilter(skill=query.skill, plugin=query.plugin, status=query.status)
        return await page_of(
            query,
            "invocations",
            lambda key, limit: self._invocations.list_invocations(where, before=key, limit=limit),
            lambda record: (record.updated_at, record.invocation_id),
            lambda record: _view(InvocationSummary, record),
        )

    async def get_invocation(self, invocation_id: str) -> InvocationDetail:
        """One invocation with what it was given. Raises :class:`NotFound`."""
        found = await self._invocations.get_invocation(invocation_id)
        if found is None:
            raise NotFound("invocation", invocation_id)
        return _view(InvocationDetail, found)


def _view(model: type[M], record: InvocationRecord) -> M:
    counts: dict[str, int] = {}
    for status, number in record.children.items():
        word = effective_status(status)
        counts[word] = counts.get(word, 0) + number
    return view(model, record, runs_by_status=counts)
