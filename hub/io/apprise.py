"""News to the services that apprise knows (ntfy, Slack, mail...): `python -m hub.io.apprise`, as a process of its own.

Owns: the way from the environment, in which no other user can read an address, to apprise.
Must not: be imported by the daemon: apprise is an extra, and talks to the network.
Tests: tests/hub/actors/test_notices.py
"""

from __future__ import annotations

import json
import os
import sys


def main() -> int:
    """0 where every service took it."""
    import apprise  # noqa: PLC0415  # the extra `notify`

    services = apprise.Apprise()
    known = [services.add(url) for url in json.loads(os.environ["HUB_NOTIFY_URLS"])]
    told = services.notify(title=os.environ["HUB_NOTIFY_TITLE"], body=os.environ["HUB_NOTIFY_TEXT"])
    return 0 if told and all(known) else 1


if __name__ == "__main__":
    sys.exit(main())
