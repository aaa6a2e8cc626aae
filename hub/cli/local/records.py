"""What a project's records tell without a daemon: `ls`, `status`, `logs`, `history`... after a `hub run` has ended.

Owns: the answers of the API that need nothing but files and git, given here while nobody writes them.
Must not: change, mend or make a file; start a daemon (one that starts goes on with a session that was broken off), or
import more than the client before it is known that none runs.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import click

from hub.cli.context import client, project_dir
from hub.client.place import root_of
from hub.client.quick import ABSENT, Query, typed
from hub.errors import Code, HubError

if TYPE_CHECKING:
    from hub.api.approvals import Approval
    from hub.api.costs import Costs
    from hub.api.history import HistoryEntry
    from hub.api.observability import AuditHead
    from hub.api.pipelines import RunStatus
    from hub.api.quota import Entry
    from hub.api.session import Cost
    from hub.api.sessions import Sessions
    from hub.api.status import Status
    from hub.domain.usage import SessionUsage
    from hub.io.audit.journal import AuditJournal
    from hub.io.project.places import Places

T = TypeVar("T")

_STARTS = 10.0
"""Seconds for which a daemon that is just starting is waited for."""
_BREATH = 0.05
_PAGE = 5000
"""Events of a session that are read at once."""
UNATTENDED = "no daemon runs here; the next one goes on with what is not done: hub daemon"
_BEGIN = 'Start something: hub run "task"   Or see two scripted agents at work first: hub demo'


class Records:
    """Answers a GET as the daemon does; from the files where none runs and no port was named.

    Raises:
        HubError: As `Api`; `no_active_session` where there are no records, because nothing has run yet.
    """

    def __init__(self, ctx: click.Context, timeout: float = 30.0) -> None:
        self._find = partial(client, ctx, timeout)
        self._api = self._find()
        root = root_of(project_dir(ctx))
        self.root = root if not self._api.named else None
        """The project's; None: none was found, or a port was named, whose project may be another."""
        self.alone = False
        """Whether the last answer is of the files, because no daemon runs."""

    def read(self, kind: type[T], path: str, query: Query | None = None) -> T:
        """A resource, as the class of `hub.api` that describes it."""
        return typed(self.get(path, query), kind)

    def get(self, path: str, query: Query | None = None) -> Any:
        """The JSON of a resource."""
        late = time.monotonic() + _STARTS
        while True:
            try:
                return self._get(path, query)
            except HubError as error:
                if error.code is not Code.PROJECT_LOCKED or time.monotonic() > late:
                    raise
            time.sleep(_BREATH)  # a daemon has the project, and does not listen yet
            self.alone, self._api = False, self._find()

    def _get(self, path: str, query: Query | None) -> object:
        if not self.alone:
            try:
                return self._api.get(path, query)
            except HubError as error:
                if error.code not in ABSENT or self.root is None or path not in _ANSWERS:
                    raise
        self.alone = True
        return self._answer(path, query or {})

    def _answer(self, path: str, query: Query) -> object:
        from hub.api.convert import unstructure
        from hub.io.project.hub_dir import insist_stamped, insist_usable
        from hub.io.project.lock import nobody_writes
        from hub.io.project.places import Places

        assert self.root is not None  # noqa: S101  # looked at before the daemon was given up
        places = Places(self.root)
        if not places.events_db.is_file():
            if path in _EMPTY:
                return unstructure(_EMPTY[path](places))
            raise HubError(Code.NO_ACTIVE_SESSION, "Nothing has run in this project yet.", hint=_BEGIN)
        insist_usable(self.root)
        insist_stamped(places)
        with nobody_writes(places.lock):
            return unstructure(_ANSWERS[path](places, query))


def _events(places: Places, query: Query) -> object:
    from hub.io.events.store import EventStore

    with EventStore.look(places.events_db) as store:
        found = store.since(int(query["since"]), int(query["limit"]), str(query.get("sessionId", "")))
        return [record.to_json() for record in found]


def _history(places: Places, query: Query) -> list[HistoryEntry]:
    from hub.io.audit.timeline import Timeline

    with contextlib.closing(_journal(places)) as journal:
        event, session_id = (str(query.get(name, "")) for name in ("event", "sessionId"))
        found = Timeline(journal).page(int(query["limit"]), event=event, session_id=session_id)
    if event != "taken" or not found:
        return found
    import trio

    from hub.io.git.discarding import looked_after

    return trio.run(looked_after, places.root, found)


def _audit_head(places: Places, _: Query) -> AuditHead:
    from hub.api.observability import AuditHead

    with contextlib.closing(_journal(places)) as journal:
        if journal.broken is not None:
            raise journal.broken
        head = journal.head()
    return AuditHead(seq=head.seq, hash=head.hash, bytes=head.size)


def _journal(places: Places) -> AuditJournal:
    from hub.io.audit.journal import AuditJournal
    from hub.io.project.places import load_key

    return AuditJournal.look(places, load_key("audit") or os.urandom(32))


def _of_git(path: str) -> Callable[[Places, Query], object]:
    """The answer of a route that asks git and no more; without what looks like a secret, or is one that hub holds."""

    def answer(places: Places, query: Query) -> object:
        from hub.api.convert import unstructure
        from hub.cli.local.alone import answered
        from hub.cli.local.offline import OfflineProject
        from hub.web.resources import history, session

        mine = OfflineProject(places)
        route = next(one for one in (*history.ROUTES, *session.ROUTES) if one.path == path)
        hide = mine.secrets().value
        return hide(unstructure(answered(mine, route, dict(query), hide)))

    return answer


def _sessions(places: Places, _: Query) -> Sessions:
    from hub.actors.sessions.listing import of_record
    from hub.cli.local.offline import OfflineProject
    from hub.io.records.sessions import found

    hide = OfflineProject(places).secrets().text
    return attrs.evolve(_no_sessions(places), sessions=[of_record(record, hide) for record in found(places)])


def _no_sessions(places: Places) -> Sessions:
    from hub.api.sessions import Sessions
    from hub.cli.local.offline import OfflineProject

    return Sessions(sessions=[], concurrent=OfflineProject(places).config().session.concurrent)


def _status(places: Places, query: Query) -> Status:
    """What is on record alone: nobody is there who works, or who could be asked."""
    from hub.actors.session.views import of_record
    from hub.cli.local.offline import OfflineProject
    from hub.io.records.sessions import meant

    record = meant(places, str(query.get("sessionId", "")))
    hide = OfflineProject(places).secrets().value
    told = of_record(record, record.task, _usage(places, record.session_id))
    error = attrs.evolve(told.error, detail=hide(told.error.detail)) if told.error else None
    return attrs.evolve(told, task_goal=hide(record.task), error=error, needs_input=False)


def _cost(places: Places, query: Query) -> Cost:
    import trio

    from hub.actors.session.views import cost
    from hub.io.records.sessions import meant

    record = meant(places, str(query.get("sessionId", "")))
    return trio.run(cost, record, _usage(places, record.session_id))


def _usage(places: Places, session_id: str) -> SessionUsage:
    """What the session's log counts up to, read in pages."""
    from hub.domain.usage import SessionUsage
    from hub.io.events.store import EventStore

    usage, after = SessionUsage(), 0
    with EventStore.look(places.events_db) as store:
        while page := store.since(after, _PAGE, session_id):
            usage.feed_all(page)
            after = page[-1].id
    return usage


def _pipeline_run(places: Places, _: Query) -> RunStatus:
    from hub.actors.pipelines.answers import run_status
    from hub.io.records.pipelines import run_store

    if (run := run_store(places).look()) is None:
        raise HubError(Code.NOT_FOUND, "No pipeline has run yet.")
    return run_status(run)


def _costs(places: Places, _: Query) -> Costs:
    from hub.actors.outcomes import FORM
    from hub.api.costs import Costs
    from hub.io.records.store import RecordStore

    kept = RecordStore(places.hub_dir / "outcomes.json", FORM).look()
    return Costs(spent=list(kept.spent) if kept is not None else [])


def _wallet(places: Places, _: Query) -> list[Entry]:
    import time

    from hub.actors.quota.store import FORM, KeptQuota
    from hub.actors.quota.wallet import Figures
    from hub.cli.local.offline import OfflineProject
    from hub.io.records.store import RecordStore
    from hub.providers.registry import load_all

    config = OfflineProject(places).config()
    kept = RecordStore(places.hub_dir / "quota.json", FORM).look() or KeptQuota()
    return Figures(kept.store(), config, tuple(load_all(lambda: config)), time.time()).wallet()


def _approvals(places: Places, _: Query) -> list[Approval]:
    """Whoever was left at work by a daemon that was killed still waits."""
    from hub.actors.approvals.store import KeptApprovals, approval_store, shown

    kept = approval_store(places).look() or KeptApprovals()
    return [shown(one) for one in kept.approvals if one.pending]


_ANSWERS: Mapping[str, Callable[[Places, Query], object]] = {
    "/api/events": _events,
    "/api/history": _history,
    "/api/audit/head": _audit_head,
    **{path: _of_git(path) for path in ("/api/history/commits", "/api/history/diff", "/api/session/diff")},
    "/api/costs": _costs,
    "/api/status": _status,
    "/api/session/cost": _cost,
    "/api/pipelines/run": _pipeline_run,
    "/api/sessions": _sessions,
    "/api/quota/wallet": _wallet,
    "/api/approvals": _approvals,
}
_EMPTY: Mapping[str, Callable[[Places], object]] = {
    "/api/sessions": _no_sessions,
    "/api/quota/wallet": lambda _: (),
    "/api/approvals": lambda _: (),
}
"""What is an empty list where nothing has run."""
