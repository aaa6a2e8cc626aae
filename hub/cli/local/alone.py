"""Routes without a daemon: what one is asked for is answered from the project's files, while its lock is held.

Owns: the answers of the few messages that such a route sends.
Must not: start a daemon (one that starts goes on with a session that was broken off), or serve a route that needs more.
Tests: tests/hub/cli/local/test_alone.py, tests/hub/cli/commands/test_result.py
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, cast

import attrs
import click
import trio

from hub.actors.sessions import listing
from hub.api.convert import structure, unstructure
from hub.api.observability import AuditHead
from hub.api.sessions import Sessions
from hub.cli.context import client
from hub.cli.local.offline import OfflineProject, held, project
from hub.client.quick import unless_absent
from hub.errors import Code, HubError
from hub.io.audit.journal import AuditJournal
from hub.io.audit.timeline import Timeline
from hub.io.project.hub_dir import insist_stamped, insist_usable
from hub.io.project.places import load_or_create_key
from hub.io.records.sessions import found, meant
from hub.messages.audit import AuditAppend, AuditEntry
from hub.messages.session import GetSessionFacts, GetSessions, SessionFacts
from hub.messages.settings import GetConfig
from hub.web.context import READ, Context
from hub.web.resources import history, results
from hub.web.route import Route
from supervisors import Call, NodeInfo, Ref

A = TypeVar("A")
M = TypeVar("M")


@attrs.frozen(kw_only=True)
class Alone(Context):
    """What a handler may reach where no daemon runs."""

    project: OfflineProject

    async def call(self, message: Call[A], *, timeout: float = READ) -> A:  # noqa: ARG002  # as everywhere
        """What the actor would answer."""
        return cast("A", await trio.to_thread.run_sync(self._answer, message))

    def _answer(self, message: object) -> object:
        places, config = self.places, self.project.config
        match message:
            case GetSessionFacts(session_id=given):
                record = meant(places, given)
                shown = attrs.evolve(record, task=self.hide(record.task))
                return SessionFacts(shown, closed=not record.session_state.active)
            case GetSessions():
                rows = [listing.of_record(record, self.hide) for record in found(places)]
                return Sessions(sessions=rows, concurrent=config().session.concurrent)
            case GetConfig():
                return config()
            case AuditAppend(entries=entries):
                with contextlib.closing(AuditJournal.open(places, load_or_create_key("audit"))) as journal:
                    draft = journal.draft()
                    for entry in entries:
                        if not (entry.key and _is_on(journal, entry)):
                            draft.add(entry.event, entry.recorded)
                    if draft.records:
                        journal.commit(draft)
                    head = journal.head()
                return AuditHead(seq=head.seq, hash=head.hash, bytes=head.size)
            case _:
                raise HubError(Code.DAEMON_NOT_RUNNING)


def _is_on(journal: AuditJournal, entry: AuditEntry) -> bool:
    """Whether the log has a record of this key: only those of its event and session are read."""
    same = Timeline(journal).found(entry.event, str(entry.data.get("sessionId", "")))
    return entry.key in (record.data.get("key") for record in same)


def _nobody(message: type[M]) -> Ref[M]:
    raise HubError(Code.DAEMON_NOT_RUNNING, f"{message.__name__} needs a daemon.")


def _no_tree() -> NodeInfo:
    raise HubError(Code.DAEMON_NOT_RUNNING)


def ordered(ctx: click.Context, kind: type[A], path: str, body: object, patience: float) -> A:
    """What comes of an order about what sessions have made: to the daemon where one runs, else carried out here."""
    told = unless_absent(partial(client(ctx, timeout=patience).order, kind, path, body))
    if told is not None:
        return told
    mine = project(ctx)
    places = mine.places
    insist_usable(places.root)
    if not places.events_db.is_file():
        raise HubError(Code.NO_ACTIVE_SESSION, "Nothing has run in this project yet.")
    insist_stamped(places)
    route = next(one for one in (*results.ROUTES, *history.ROUTES) if one.path == path)
    with held(places):
        done: A = answered(mine, route, unstructure(body), mine.secrets().value)
        return done


def answered(mine: OfflineProject, route: Route, given: object, hide: Callable[[str], str]) -> Any:
    """What a route answers without a daemon."""
    context = Alone(mine.places, _nobody, _no_tree, hide, project=mine)
    return trio.run(route.handle, context, structure(given, route.given))
