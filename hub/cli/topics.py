"""What `hub help` tells beside the commands: the environment, the exit statuses, and each error code.

Owns: the words for variables and exit statuses.
Must not: say of an error what `hub.errors` does not.
Tests: tests/hub/cli/commands/test_help.py
"""

from __future__ import annotations

from collections.abc import Mapping

import click

from hub.errors import RULES, Code

ENVIRONMENT = {
    "HUB_PORT, HUB_HOST, HUB_TOKEN, HUB_CHAIN, HUB_THRESHOLD, HUB_MAX_HANDOFFS, HUB_ON_LIMIT": (
        "The settings of those names; HUB_PORT also tells clients where the daemon is"
    ),
    "HUB_AMBIENT": "0 keeps the daemon from looking for other agents by itself",
    "HUB_DEMO": "1 enables the scripted agents",
    "HUB_DEMO_SCRIPT, HUB_DEMO_PACE, HUB_DEMO_LOG": (
        "The scripted agents' steps (a path), seconds between two built-in ones, a file with a line for each start"
    ),
    "HUB_CONFIG_DIR, HUB_STATE_DIR": (
        "The user's configuration; the user's keys, in place of the platform's directories"
    ),
    "HUB_SIGNING_KEY": "The contract key as 64 hex digits, in place of the generated one",
    "HUB_TRUST": "1 trusts every project, for containers where nobody can be asked",
    "HUB_DEBUG": "1 shows tracebacks and the supervision tree's events",
    "HUB_FAILPOINTS": "Faults to plant, for tests: fsm.SNAPSHOTTED.pre_rename=kill9",
    "HUB_RUN_ID": "Set by hub for each agent, so that every process it leaves behind can be found",
    "HUB_NOTIFY_EVENT, HUB_NOTIFY_SESSION, HUB_NOTIFY_TITLE, HUB_NOTIFY_TEXT, HUB_NOTIFY_URLS": (
        "Set for the program that [notify] command names, and for apprise"
    ),
    "NO_COLOR, CLICOLOR, FORCE_COLOR": "Whether there are colours; else a terminal has them",
    "VISUAL, EDITOR": "What opens for a task and for hub config edit",
}
"""Variables, and what they are for."""

EXITS = {
    0: "all went well",
    1: "it failed; stderr says what, why and the next step",
    2: "the command, a field, or hub.toml was not understood; an id could mean several; not a git repository",
    3: "there is no such thing",
    4: "the agent is not logged in",
    5: "the agent waits for an answer, or you have not said that you trust the project",
    6: "the quota is used up, and nobody is left to hand the work to",
    69: "the daemon is not running",
    74: "the disk failed under hub's records: the daemon has ended and left the agent to the next one",
    75: "another daemon holds this project",
    76: "the port is in use",
    130: "interrupted; a stopped session ends a hub run with it",
}
"""Exit statuses of every command."""


def topic(name: str) -> str | None:
    """The text of a topic or of an error's code; None where there is neither."""
    if name in TOPICS:
        return _listed(TOPICS[name])
    try:
        code = Code(name)
    except ValueError:
        return None
    rule = RULES[code]
    lines = [f"{code.value}: {rule.title}.", f"next: {rule.hint}" if rule.hint else ""]
    return "\n".join([*filter(None, lines), f"exit status {rule.exit}, HTTP {rule.status}"])


def _listed(rows: list[tuple[str, str]]) -> str:
    formatter = click.HelpFormatter(width=click.get_current_context().make_formatter().width)
    formatter.write_dl(rows, col_max=18)
    return formatter.getvalue().rstrip()


TOPICS: Mapping[str, list[tuple[str, str]]] = {
    "environment": list(ENVIRONMENT.items()),
    "exit-codes": [(str(number), words) for number, words in EXITS.items()],
    "errors": [(code.value, rule.title) for code, rule in RULES.items()],
}
"""The other topics."""
