"""The closed list of error codes: what every face of hub (API, CLI, MCP) says when it says no.

Owns: the codes, their HTTP status, their exit status and their default next step; the page of them, `docs/errors.md`.
Must not: import anything of hub; carry secrets (details are redacted by the sink that shows them).
Tests: tests/hub/cli/test_ending.py, tests/test_docs.py
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import attrs


class Code(StrEnum):
    """Every code an API answer, a command or an event may carry."""

    MALFORMED = "malformed"
    BAD_HOST = "bad_host"
    TOKEN_NEEDED = "token_needed"  # noqa: S105  # a code
    OTHER_USER = "other_user"
    FOREIGN_ORIGIN = "foreign_origin"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    TOO_LARGE = "too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    MISDIRECTED = "misdirected"
    OTHER_PROJECT = "other_project"
    HEADERS_TOO_LARGE = "headers_too_large"
    INVALID = "invalid"
    SESSION_ALREADY_RUNNING = "session_already_running"
    NO_ACTIVE_SESSION = "no_active_session"
    WHICH_SESSION = "which_session"
    HANDOFF_IN_PROGRESS = "handoff_in_progress"
    REPLY_UNSUPPORTED = "reply_unsupported"
    APPROVAL_RESOLVED = "approval_resolved"
    APPROVAL_DENIED = "approval_denied"
    NO_FALLBACK = "no_fallback"
    NO_TERMINAL = "no_terminal"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    NO_SPACE = "no_space"
    READ_ONLY = "read_only"
    DISK_FAILED = "disk_failed"
    INTERNAL = "internal"
    INSTALL_BROKEN = "install_broken"
    OUTDATED = "outdated"
    CONFIG_INVALID = "config_invalid"
    CONFIG_CHANGED = "config_changed"
    ACCOUNT_IN_USE = "account_in_use"
    JOB_RUNNING = "job_running"
    PROGRAM_MISSING = "program_missing"
    UPSTREAM_FAILED = "upstream_failed"
    VISION_OFF = "vision_off"
    NOT_A_REPOSITORY = "not_a_repository"
    NO_COMMIT = "no_commit"
    NO_PERMISSION = "no_permission"
    WORKTREE_MISSING = "worktree_missing"
    WORKTREE_TAMPERED = "worktree_tampered"
    BRANCH_MISSING = "branch_missing"
    GIT_FAILED = "git_failed"
    GIT_MISSING = "git_missing"
    MERGE_CONFLICT = "merge_conflict"
    UNCOMMITTED = "uncommitted_work"
    NOTHING_TO_TAKE = "nothing_to_take"
    NOT_TAKEN = "not_taken"
    AGENT_MISSING = "agent_missing"
    AGENT_EXITED = "agent_exited"
    AGENT_SILENT = "agent_silent"
    AUTH_NEEDED = "auth_needed"
    INPUT_NEEDED = "input_needed"
    QUOTA_EXHAUSTED = "quota_exhausted"
    REFUSED = "refused"
    CONTEXT_OVERFLOW = "context_overflow"
    DISPATCH_AMBIGUOUS = "dispatch_ambiguous"
    DISPATCH_FAILED = "dispatch_failed"
    VERIFY_FAILED = "verify_failed"
    SETUP_FAILED = "setup_failed"
    CONTRACT_INVALID = "contract_invalid"
    STATE_CORRUPT = "state_corrupt"
    NOT_SEALED = "not_sealed"
    TRACKED = "hub_tracked"
    AUDIT_BROKEN = "audit_broken"
    AUDIT_UNREADABLE = "audit_unreadable"
    DAEMON_NOT_RUNNING = "daemon_not_running"
    PROJECT_LOCKED = "project_locked"
    PORT_IN_USE = "port_in_use"
    INTERRUPTED = "interrupted"
    USAGE = "usage"
    AGENT_RUNNING = "agent_running"
    NOTHING_TO_ADOPT = "nothing_to_adopt"
    OUTSIDE_PROJECT = "outside_project"
    TRUST_NEEDED = "trust_needed"


@attrs.frozen
class Fault:
    """What a code means to each face."""

    status: int
    """HTTP status of the API's answer."""
    exit: int
    """Exit status of a command that ends with it."""
    title: str
    """One short sentence, the same for every occurrence."""
    hint: str = ""
    """The next step, when the place that raises knows no better one."""


_GO_ON = "Go on with its work in a new session: hub run --continue SESSION"

RULES: dict[Code, Fault] = {
    Code.MALFORMED: Fault(400, 2, "The request could not be read", "Send it as /openapi.json describes."),
    Code.BAD_HOST: Fault(400, 2, "The Host header is missing or doubled", "Send exactly one Host header."),
    Code.TOKEN_NEEDED: Fault(
        401, 4, "The daemon wants its token", "Set HUB_TOKEN, or [server] token, to what it was started with."
    ),
    Code.OTHER_USER: Fault(
        403,
        4,
        "The connection belongs to another user",
        "Call as the user who runs hub, or send its token: set [server] token, and HUB_TOKEN where you call from.",
    ),
    Code.FOREIGN_ORIGIN: Fault(
        403, 1, "The request came from another website", "Call hub from its own page or a local program."
    ),
    Code.NOT_FOUND: Fault(
        404, 3, "There is no such thing here", "See /openapi.json for the paths that exist."
    ),
    Code.METHOD_NOT_ALLOWED: Fault(405, 2, "That method is not served here", "See the Allow header."),
    Code.TOO_LARGE: Fault(413, 2, "The request is too large", "Keep a body under 1 MiB."),
    Code.UNSUPPORTED_MEDIA_TYPE: Fault(
        415, 2, "The body must be JSON", "Send Content-Type: application/json."
    ),
    Code.MISDIRECTED: Fault(421, 1, "The request was meant for another host", "Use http://127.0.0.1:<port>."),
    Code.OTHER_PROJECT: Fault(
        421,
        69,
        "That is the daemon of another project",
        "Start this project's own: hub daemon --port 0   (and unset HUB_PORT, if it is set)",
    ),
    Code.HEADERS_TOO_LARGE: Fault(431, 2, "The header block is too large", "Keep headers under 16 KiB."),
    Code.INVALID: Fault(422, 2, "A field does not validate", "Correct what is named, then try again."),
    Code.SESSION_ALREADY_RUNNING: Fault(
        409,
        1,
        "A session is already running",
        "Let yours wait for its turn: hub run --queue   Or end one that runs: hub stop SESSION",
    ),
    Code.WHICH_SESSION: Fault(
        409, 2, "That could mean more than one session", "Say which: add its id (reply: --session ID)"
    ),
    Code.NO_ACTIVE_SESSION: Fault(409, 1, "No session is active", 'Start one: hub run "task"'),
    Code.HANDOFF_IN_PROGRESS: Fault(409, 1, "A handoff is under way", "Watch it: hub logs -f"),
    Code.REPLY_UNSUPPORTED: Fault(
        409, 1, "The active agent takes no replies", "Hand over instead: hub handoff"
    ),
    Code.APPROVAL_RESOLVED: Fault(
        409, 1, "The request was already answered", "See what waits: hub approvals"
    ),
    Code.APPROVAL_DENIED: Fault(
        409, 1, "It was not approved", "Change the rule in hub.toml, or run the task again: hub run"
    ),
    Code.NO_FALLBACK: Fault(
        409, 6, "No agent is left to hand the work to", "Enable another provider in hub.toml."
    ),
    Code.NO_TERMINAL: Fault(409, 1, "No terminal could be opened", "Run the command in the detail by hand."),
    Code.UNAVAILABLE: Fault(503, 1, "A part of the daemon is restarting", "Try again in a second."),
    Code.TIMEOUT: Fault(504, 1, "A part of the daemon did not answer in time", "Try again; see hub doctor."),
    Code.NO_SPACE: Fault(
        507,
        1,
        "The disk is full",
        "Free some space, then try again; a session that waits for it goes on by itself.",
    ),
    Code.READ_ONLY: Fault(
        507,
        1,
        "The file system is read-only",
        "Remount it writable, then try again; a session that waits for it goes on by itself.",
    ),
    Code.DISK_FAILED: Fault(
        507, 74, "The disk failed", "Look at the disk (dmesg), then start hub again: it goes on where it was."
    ),
    Code.INTERNAL: Fault(500, 1, "hub made a mistake", "Please report it with the output of hub doctor."),
    Code.INSTALL_BROKEN: Fault(
        500,
        1,
        "hub is not installed as it should be",
        "Install it again, in a virtual environment of its own: pip then takes versions that fit. In a clone: sh .ci/setup",
    ),
    Code.OUTDATED: Fault(503, 1, "Another hub was installed meanwhile", "End the daemon, then: hub daemon"),
    Code.CONFIG_INVALID: Fault(
        422, 2, "hub.toml does not parse or validate", "Correct the place named in the detail."
    ),
    Code.CONFIG_CHANGED: Fault(
        409, 1, "Something else changed the file in the meantime", "Try again once nothing else writes to it."
    ),
    Code.ACCOUNT_IN_USE: Fault(
        409, 1, "The session that runs uses this account", "Hand over first, or stop it: hub stop"
    ),
    Code.JOB_RUNNING: Fault(409, 1, "That is under way already", "Watch it: hub logs -f"),
    Code.PROGRAM_MISSING: Fault(
        409, 1, "A program that this needs is not installed", "Install it: hub doctor"
    ),
    Code.UPSTREAM_FAILED: Fault(
        424,
        1,
        "The model server failed",
        "Check that it runs and what it says, then try again.",
    ),
    Code.VISION_OFF: Fault(
        409, 1, "No vision model is configured", "Set enabled and model in [vision] of hub.toml."
    ),
    Code.NOT_A_REPOSITORY: Fault(
        422,
        2,
        "This is not a git repository",
        "Go to one, or make one here: git init && git commit --allow-empty -m start",
    ),
    Code.NO_COMMIT: Fault(
        422, 2, "The repository has no commit yet", "Run: git commit --allow-empty -m start"
    ),
    Code.NO_PERMISSION: Fault(422, 1, "A file or folder may not be written", "Correct its owner or mode."),
    Code.WORKTREE_MISSING: Fault(
        409, 1, "The session's worktree is gone", "Look at its snapshots: hub history"
    ),
    Code.WORKTREE_TAMPERED: Fault(
        409, 1, "The session's worktree points elsewhere", "Look at its snapshots: hub history"
    ),
    Code.BRANCH_MISSING: Fault(
        409, 1, "The session's branch is gone", "Look at what is left: hub history --commits"
    ),
    Code.GIT_FAILED: Fault(500, 1, "git failed", "Run hub doctor."),
    Code.GIT_MISSING: Fault(500, 1, "git is not installed", "Install git 2.31 or newer."),
    Code.MERGE_CONFLICT: Fault(
        409,
        1,
        "Two branches change the same lines",
        "Let one of the two nodes depend on the other, then run the pipeline again.",
    ),
    Code.UNCOMMITTED: Fault(
        409,
        1,
        "Uncommitted work is in the way",
        "Commit it, then try again; or keep the result apart: hub take --branch <name>",
    ),
    Code.NOTHING_TO_TAKE: Fault(
        409, 1, "There is nothing to take", "See what the session has changed: hub diff"
    ),
    Code.NOT_TAKEN: Fault(
        409, 1, "Its result has not been taken yet", "Take it first: hub take   Or let it go: --force"
    ),
    Code.AGENT_MISSING: Fault(
        409, 1, "The agent's program is not installed", "Install it: hub install NAME   All: hub providers"
    ),
    Code.AGENT_EXITED: Fault(409, 1, "The agent ended unexpectedly", _GO_ON),
    Code.AGENT_SILENT: Fault(409, 1, "The agent said nothing for too long", _GO_ON),
    Code.AUTH_NEEDED: Fault(
        409, 4, "The agent is not logged in, or its key is wrong", "Run hub doctor for the login command."
    ),
    Code.INPUT_NEEDED: Fault(409, 5, "The agent waits for an answer", 'Answer it: hub reply "text"'),
    Code.QUOTA_EXHAUSTED: Fault(
        409, 6, "The quota is used up", "Wait for the reset, or enable another provider."
    ),
    Code.REFUSED: Fault(
        409, 1, "The model refused the task", "Rephrase the task, or choose another provider."
    ),
    Code.CONTEXT_OVERFLOW: Fault(409, 1, "The task no longer fits the model's context", _GO_ON),
    Code.DISPATCH_AMBIGUOUS: Fault(
        409,
        1,
        "It is not known whether the next agent started",
        "Look at the worktree, then decide: hub handoff, or hub stop",
    ),
    Code.DISPATCH_FAILED: Fault(409, 1, "The agent could not be started", "Run hub doctor."),
    Code.VERIFY_FAILED: Fault(
        409, 1, "The acceptance commands failed", "Read their output: hub logs --full SESSION"
    ),
    Code.SETUP_FAILED: Fault(
        409,
        1,
        "The worktree could not be set up; no agent was started",
        "Correct [worktree] setup in hub.toml, then run the task again: hub run",
    ),
    Code.CONTRACT_INVALID: Fault(
        409, 1, "The contract's signature does not verify", "It was not given to the agent; see hub history"
    ),
    Code.STATE_CORRUPT: Fault(
        409, 1, "A state file is damaged; it was set aside", "Start anew: hub run; the branch is intact."
    ),
    Code.NOT_SEALED: Fault(
        409,
        1,
        "A record below .hub is not one that hub made here",
        "Your branches are intact: git branch --list 'hub/*'; then start anew: hub run",
    ),
    Code.TRACKED: Fault(
        409,
        1,
        "git tracks .hub, so nothing in it can be believed",
        "Look at what it brings, then take it out of git: git rm -r --cached .hub, commit, and move the folder away",
    ),
    Code.AUDIT_BROKEN: Fault(409, 1, "The audit log was changed", "See hub audit verify."),
    Code.AUDIT_UNREADABLE: Fault(409, 2, "The audit log cannot be read", "See hub doctor."),
    Code.DAEMON_NOT_RUNNING: Fault(503, 69, "The daemon is not running", "Start it: hub daemon"),
    Code.PROJECT_LOCKED: Fault(
        409, 75, "Another daemon holds this project", "Use that one, or stop it first."
    ),
    Code.PORT_IN_USE: Fault(409, 76, "The port is in use", "Choose another: --port 0"),
    Code.INTERRUPTED: Fault(409, 130, "Interrupted", ""),
    Code.AGENT_RUNNING: Fault(
        409, 1, "The agent still runs", "Wait until it has ended, or let hub end it: hub adopt --stop"
    ),
    Code.NOTHING_TO_ADOPT: Fault(
        409, 1, "There is nothing of this agent to go on with", "See what is known of it: hub detect --json"
    ),
    Code.OUTSIDE_PROJECT: Fault(
        409, 1, "The agent works outside this project", "Start hub there: hub -C <its folder> daemon --port 0"
    ),
    Code.TRUST_NEEDED: Fault(
        409,
        5,
        "You have not trusted this project yet",
        "See what it would do, and say yes: hub trust   Or for this time: --trust",
    ),
    Code.USAGE: Fault(422, 2, "The command was not understood", "See --help."),
}


class HubError(Exception):
    """A coded error with what, why and the next step.

    Args:
        code: One of the closed list.
        detail: What happened, in one sentence a person understands.
        hint: The next step; the code's own when empty.
        extra: More members for the problem document (`errors`, `line`, `column`...); what is None is left out.
    """

    def __init__(self, code: Code, detail: str = "", *, hint: str = "", **extra: Any) -> None:
        super().__init__(detail or RULES[code].title)
        self.code = code
        self.detail = detail or RULES[code].title
        self.hint = hint or RULES[code].hint
        self.extra = {name: value for name, value in extra.items() if value is not None}

    @property
    def status(self) -> int:
        """HTTP status."""
        return RULES[self.code].status

    @property
    def exit_status(self) -> int:
        """Exit status of a command."""
        return RULES[self.code].exit

    def problem(self) -> dict[str, object]:
        """The RFC 9457 document `{type, title, status, detail, code, hint}` and the extras."""
        rule = RULES[self.code]
        return {
            "type": f"urn:hub:error:{self.code.value}",
            "title": rule.title,
            "status": rule.status,
            "detail": self.detail,
            "code": self.code.value,
            "hint": self.hint,
            **self.extra,
        }


def document() -> str:
    """The text of `docs/errors.md`. A test fails when the file differs from it."""
    rows = "\n".join(
        f"| `{code.value}` | {rule.status} | {rule.exit} | {rule.title} | {rule.hint.replace('<', '&lt;')} |"
        for code, rule in sorted(RULES.items())
    )
    return _DOCUMENT.format(rows=rows)


_DOCUMENT = """\
# Errors

Drawn from `RULES` in `hub/errors.py`; do not edit by hand. To write it anew:

    python -c "from hub.errors import document; print(document(), end='')" > docs/errors.md

Every no of hub, on every face, carries one of these codes: a command says it on stderr, and with `--json` on stdout as
`{{"error": {{code, detail, hint, ...}}}}`; the API answers with a problem document (RFC 9457). What is said on the
spot may name the next step better than this table does. Exit statuses by number: [commands](commands.md#exit-statuses).

| Code | HTTP | Exit | What it means | Next step |
|---|---|---|---|---|
{rows}
"""
