"""What speaks for an audit log that is not there any more.

Owns: which of hub's other records can only have been made where there was one.
Must not: judge a log that is there, or change anything.
"""

from __future__ import annotations

import contextlib

from hub.domain.audit import parse_anchor
from hub.errors import HubError
from hub.io.project.places import Places

_SNAPSHOTS = (
    "for-each-ref",
    "--sort=-committerdate",
    "--format=%(objectname:short) %(trailers:key=Hub-Audit,valueonly)",
    "refs/hub/",
)


def traces(places: Places) -> str:
    """Why both files must have been there: for a session on record, or a snapshot that names a record; "" = no reason."""
    from hub.io.git.progress import ran  # whoever has a log does without both
    from hub.io.records.sessions import found

    told = ""
    if known := found(places):
        told = f"the session {known[-1].session_id} is on record"
    else:
        with contextlib.suppress(HubError):
            _, out, _ = ran(*_SNAPSHOTS, root=places.root)
            for line in out.decode("utf-8", "replace").splitlines():
                commit, _, mark = line.partition(" ")
                with contextlib.suppress(ValueError):
                    told = told or f"the snapshot {commit} names record {parse_anchor(mark).seq} of it"
    return f"the log and its head are gone, but {told}" if told else ""
