"""The message map for people.

Owns: the text of `design/message-map.md`.
Must not: hold a row; `EDGES` in `hub/messages.py` does.
"""

from __future__ import annotations

from hub.messages import EDGES


def document() -> str:
    """The text of `design/message-map.md`. A test fails when the file differs from it."""
    rows = "\n".join(
        f"| {e.sender} | {e.receiver} | `{e.message.__name__}` | {'yes' if e.blocking else 'no'} | {e.overflow} |"
        for e in EDGES
    )
    return _DOCUMENT.format(rows=rows)


_DOCUMENT = """\
# Who may send what to whom

Drawn from `EDGES` in `hub/messages.py`; do not edit by hand. To write it anew:

    python -c "from hub.message_map import document; print(document(), end='')" > design/message-map.md

Blocking rows form a graph without cycles, so no two actors can wait for each other. A row that does not block says
what happens when the receiver's mailbox is full: `refuse` tells the sender, `drop` loses what is repeated later anyway.

| From | To | Message | Waits | When full |
|---|---|---|---|---|
{rows}
"""
