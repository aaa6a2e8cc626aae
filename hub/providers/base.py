"""The shape every agent folder has.

Owns: the contract of an adapter's pure half: `Assignment` -> `Launch`, and `Stream`, the fold over what the
agent writes.
Must not: open files, processes or sockets, read a clock, or know any one agent.

Theory of operation. A `Stream` is a *deterministic fold*: given the same assignment and the same lines it makes
the same events and the same writes. The daemon may die at any moment; the agent lives on under its runner,
which spools every byte. The next daemon replays the spool from its first byte into a fresh `Stream`, drops the
events whose offsets are already in the event log, and sends every write again; the runner takes each write
once, by its `key`. So nothing is lost and nothing is done twice. Hence the rules:
 1. `feed` and friends use only their arguments and the state they built before. No clock, no random.
 2. A write caused by a line has a key derived from the protocol (`init`, `turn-1`, `answer-<request id>`).
 3. A line that cannot be read becomes one `system` event with `meta.unknown`, is counted, and never raises.

Tests: tests/hub/providers/test_registry.py
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import attrs

from hub.domain.accounts.account import DEFAULT_ACCOUNT
from hub.domain.accounts.account import Account as Account  # noqa: PLC0414  # part of the contract
from hub.domain.accounts.login import LoginStore as LoginStore  # noqa: PLC0414  # part of the contract
from hub.domain.event import Event
from hub.domain.failure import Failure
from hub.domain.intent.amendment import Untold


@attrs.frozen
class Capabilities:
    """What an adapter can do; served with the provider's configuration."""

    replies: bool = False
    """Takes a user's reply while it runs."""
    interrupt: bool = False
    """Has a protocol interrupt that ends the turn and keeps the process."""
    resume: bool = False
    """Can continue a native session by id."""
    approvals: bool = False
    """Asks before it acts, over the protocol."""
    quota: bool = False
    """Reports quota windows in its stream."""
    cost: bool = False
    """Reports its own cost figure."""
    accounts: bool = False
    """Keeps the logins of several accounts apart: an account may have a directory of its own."""
    system_prompt: bool = False
    """Takes the envelope beside its own system prompt (otherwise it is the head of the first message)."""


class Stdin(StrEnum):
    """What the agent's standard input is."""

    NULL = "null"
    PIPE = "pipe"


_DEFAULT_ACCOUNT = Account("default")


@attrs.frozen
class Assignment:
    """What one dispatch asks of an agent. Everything a `Launch` and a `Stream` may depend on."""

    dispatch_id: str
    session_id: str
    prompt: str
    """The user's task, or the short instruction that points at the envelope."""
    worktree: Path
    run_dir: Path
    """`.hub/run/<dispatch id>/`: files made for this dispatch live here."""
    program: str = ""
    """Path of the agent's program; empty = find it on PATH by its usual name."""
    envelope: str = ""
    """Text of the contract to inject; "" on a first start."""
    envelope_path: Path | None = None
    """The same text as a file, readable by the agent."""
    resume_id: str = ""
    """Native session id to continue; "" = a fresh session."""
    native_id: str = ""
    """A UUID the agent may be told to use as its session id, where it can."""
    model: str = ""
    base_url: str = ""
    account: Account = _DEFAULT_ACCOUNT
    options: Mapping[str, Any] = attrs.field(factory=dict)
    """The provider's own table in `hub.toml` (for `demo`: `script`)."""
    asks: bool = False
    """Whether the agent must ask before it acts, as far as its own options do not say otherwise: rules wait for that."""


@attrs.frozen
class Launch:
    """How to start the agent. `env` holds only what the agent needs on top of the allow-listed base."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    stdin: Stdin = Stdin.NULL
    files: Mapping[str, bytes] = attrs.field(factory=dict)
    """Files to write (0600) into `run_dir` before the start: name -> bytes. Prompts go here, never into argv."""
    stdin_file: str = ""
    """Name of one of `files` to be the agent's standard input (with `Stdin.NULL`)."""


@attrs.frozen
class Write:
    """Bytes for the agent's standard input. The runner takes each `key` once."""

    key: str
    data: bytes


class Ending(StrEnum):
    """How a run ended, as the stream tells it."""

    DONE = "done"
    """The agent says it has finished (the verifier decides whether it has)."""
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    """It was stopped because hub asked."""


@attrs.frozen
class Outcome:
    """The end of a run."""

    ending: Ending
    failure: Failure | None = None
    text: str = ""
    """The agent's last words."""


@attrs.frozen
class Step:
    """What one line led to."""

    events: Sequence[Event] = ()
    writes: Sequence[Write] = ()
    outcome: Outcome | None = None
    """Set once, when the stream itself tells that the turn is over. The process may still be alive."""
    close_stdin: bool = False
    """True when the agent is done with its input and only waits for EOF to leave."""


@attrs.frozen
class ProcessExit:
    """How the process ended, as the runner saw it."""

    code: int | None
    """Exit code; None when a signal ended it."""
    signal: int | None = None
    asked: bool = False
    """Whether hub had asked it to stop."""
    stderr_tail: str = ""
    """The last 64 KiB of standard error, decoded."""


@runtime_checkable
class Stream(Protocol):
    """The fold over an agent's native stream. One per dispatch; see the module's rules."""

    @property
    def native_session(self) -> str:
        """The agent's own session id as soon as it is known, else ""."""

    @property
    def tools_in_flight(self) -> int:
        """Tool calls started and not ended: 0 is a safe point."""

    @property
    def alive(self) -> bool:
        """Whether the agent's program has shown that it runs (its first own event)."""

    @property
    def unknown_lines(self) -> int:
        """How many lines could not be read."""

    def open(self) -> Step:
        """What to write at the very start."""

    def feed(self, line: bytes, now: float) -> Step:
        """One line of standard output without its newline; `now` is the spool's time, epoch seconds."""

    def feed_stderr(self, line: bytes, now: float) -> Step:
        """One line of standard error. Most agents ignore it; some tell their retries only there."""

    def reply(self, text: str, key: str) -> Sequence[Write]:
        """Writes for a user's reply; () when replies are not supported or not possible at this moment."""

    def answer(self, approval_id: str, approved: bool, note: str) -> Sequence[Write]:
        """Writes for the answer to a permission request."""

    def interrupt(self) -> Sequence[Write]:
        """Writes of the protocol's own interrupt; () when it has none (signals are used then)."""

    def finish(self, end: ProcessExit, now: float) -> Step:
        """The process has ended and all its lines were fed: the final events and, always, an outcome."""


Texts = Callable[[str], Sequence[str]]
"""A pattern of absolute paths -> the texts of the files that fit it; nothing where there is none."""


class Provider(Protocol):
    """One agent. A folder's `agent.py` has one instance of it, named `PROVIDER`."""

    @property
    def name(self) -> str:
        """Name in hub.toml and in the API: `claude`, `codex`, `gemini`, `demo-first`..."""

    @property
    def display_name(self) -> str:
        """Name for people."""

    @property
    def program(self) -> str:
        """The executable's usual name on PATH."""

    @property
    def capabilities(self) -> Capabilities:
        """What the adapter can do."""

    @property
    def install_command(self) -> Sequence[str]:
        """The argument list of the documented install."""

    @property
    def login_command(self) -> Sequence[str]:
        """The argument list of the agent's own login."""

    @property
    def login_stores(self) -> Sequence[LoginStore]:
        """Where the agent keeps its login; () = hub cannot know whether it has one."""

    @property
    def version_args(self) -> Sequence[str]:
        """Arguments that print the version."""

    @property
    def key_names(self) -> Sequence[str]:
        """Environment names that hold this agent's credentials (allow-listed in `.hub/.env`)."""

    @property
    def silent_after(self) -> float:
        """Seconds without any event after which the agent counts as silent."""

    @property
    def untold(self) -> Collection[Untold]:
        """What the stream leaves out and the agent's own store (`store.py`) has: read there once the agent is stopped."""

    def unasked(self, options: Mapping[str, object]) -> Mapping[str, str]:
        """What the agent does without asking although it is told to ask: a pattern of its tools' names -> why.

        It is not started under a rule that is about one of them. `options` is the provider's table in `hub.toml`.
        """

    def loose(self, assignment: Assignment, env: Mapping[str, str], texts: Texts) -> Mapping[str, str]:
        """What its user's own settings let it do without asking although it is told to ask: as `unasked`.

        Args:
            assignment: What it is to do.
            env: Its whole environment.
            texts: Reads the files of a pattern.
        """

    def account_env(self, account: Account) -> Mapping[str, str]:
        """Environment that points the agent at the account's isolated directory."""

    def refuses_root(
        self, options: Mapping[str, object], env: Mapping[str, str], *, asks: bool
    ) -> tuple[str, str]:
        """Why it would not start for the user root, in a user's words, and what helps; ("", "") = it would.

        Args:
            options: Its table in `hub.toml`.
            env: The environment it would have.
            asks: Whether a rule wants it to ask before it acts.
        """

    def launch(self, assignment: Assignment) -> Launch:
        """How to start it."""

    def stream(self, assignment: Assignment) -> Stream:
        """A fresh fold for this dispatch."""


def install_hint(provider: Provider) -> str:
    """What to do when the provider's program is not there."""
    if provider.install_command:
        return "Install it: " + " ".join(provider.install_command)
    return f"Install {provider.program}, or correct providers.{provider.name}.command in hub.toml."


INSTALL_ANY = "Install one, for example: hub install claude (all there are: hub providers). See hub at work first: hub demo"
"""What to do where no agent's program is there at all."""


def login_hint(provider: Provider) -> str:
    """What brings an agent without a login into the default chain."""
    ways = [f"Log in: {' '.join(provider.login_command)}"] if provider.login_command else []
    if provider.key_names:
        ways.append(f"{'or give' if ways else 'Give'} it a key: hub key set {provider.name}")
    return "; ".join([*ways, "or name it in [session] chain"])


def refused_login_hint(provider: Provider, account: str) -> str:
    """What to do when its maker does not take the login or the key it has; "" = hub knows of no way."""
    who = provider.name if account == DEFAULT_ACCOUNT else f"{provider.name} {account}"
    ways = [f"Log in again: hub account login {who}"] if provider.login_command else []
    if provider.key_names:
        ways.append(f"{'or give' if ways else 'Give'} it another key: hub key set {provider.name}")
    return "; ".join(ways)
