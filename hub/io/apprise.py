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
    """0 where every service took it; else standard output has who did not, and no key of theirs."""
    import apprise  # the extra `notify`

    troubles = []
    for url in json.loads(os.environ["HUB_NOTIFY_URLS"]):
        scheme = f"{url.partition(':')[0]}:..."  # what follows may be a key
        services = apprise.Apprise()
        if not services.add(url):
            troubles.append(f"does not understand the address {scheme}")
        elif not services.notify(title=os.environ["HUB_NOTIFY_TITLE"], body=os.environ["HUB_NOTIFY_TEXT"]):
            troubles.append(f"could not deliver to {scheme}")
    print("; ".join(troubles))  # noqa: T201  # its answer
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
