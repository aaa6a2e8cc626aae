"""What hub knows of an agent's program: its facts, how it is started, the environment it gets.

Owns: the fields and the contract of every `Provider`, with the values most share, and which setting wins over which.
Must not: know any one agent, or how it is told what to do (each folder's `agent.py` does).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from hub.domain.accounts.account import DEFAULT_ACCOUNT, Account
from hub.domain.accounts.login import LoginStore
from hub.domain.config.reader import AGENTS
from hub.domain.intent.amendment import Untold
from hub.providers import jsonline
from hub.providers.base import Assignment, Capabilities, Launch, Stream

if TYPE_CHECKING:
    from hub.domain.detection.adoption import Opening  # which brings the fold of intents

Texts = Callable[[str], Sequence[str]]
"""A pattern of absolute paths -> the texts of the files that fit it; nothing where there is none."""


CONVERSES = Capabilities(replies=True, interrupt=True, resume=True, approvals=True, accounts=True)
"""What most can: their protocol goes both ways, and a variable moves their directory."""


@attrs.frozen(kw_only=True)
class Provider(ABC):
    """One agent. A folder's `agent.py` has one instance of it, named `PROVIDER`."""

    name: str
    """Name in hub.toml and in the API: `claude`, `codex`, `gemini`, `demo-first`..."""
    stream: Callable[[Assignment], Stream]
    """A fresh fold for a dispatch."""
    display_name: str = attrs.field(default=attrs.Factory(lambda self: AGENTS[self.name], takes_self=True))
    """Name for people."""
    capabilities: Capabilities = CONVERSES
    program: str = attrs.field(default=attrs.Factory(lambda self: self.name, takes_self=True))
    """The executable's usual name on PATH."""
    install_command: Sequence[str] = ()
    """The argument list of the documented install."""
    login_command: Sequence[str] = ()
    """The argument list of the agent's own login."""
    login_stores: Sequence[LoginStore] = ()
    """Where the agent keeps its login; () = hub cannot know whether it has one."""
    version_args: Sequence[str] = ("--version",)
    key_names: Sequence[str] = ()
    """Environment names that hold this agent's credentials (allow-listed in `.hub/.env`)."""
    silent_after: float = 300.0
    """Seconds without any event after which the agent counts as silent."""
    home_env: str = ""
    """The variable that moves the agent's own directory, and so its login and sessions; "" = it has none."""
    base_url_env: str = ""
    """The variable that says where its model is served; "" = it is told in another way."""
    untold: Collection[Untold] = ()
    """What the stream leaves out and the agent's own store (`store.py`) has: read there once the agent is stopped."""
    opening: Opening | None = None
    """How its own interactive program is opened; None where hub does not know."""

    @abstractmethod
    def launch(self, assignment: Assignment) -> Launch:
        """How to start it."""

    def unasked(self, options: Mapping[str, object]) -> Mapping[str, str]:
        """What the agent does without asking although it is told to ask: a pattern of its tools' names -> why.

        It is not started under a rule that is about one of them. `options` is the provider's table in `hub.toml`.
        """
        if self.capabilities.approvals:
            return {}
        return {"*": "cannot ask for permission, which a rule of [[approvals]] wants."}

    def loose(self, assignment: Assignment, env: Mapping[str, str], texts: Texts) -> Mapping[str, str]:
        """What its user's own settings let it do without asking although it is told to ask: as `unasked`.

        Args:
            assignment: What it is to do.
            env: Its whole environment.
            texts: Reads the files of a pattern.
        """
        return {}

    def account_env(self, account: Account) -> Mapping[str, str]:
        """The account's isolated directory, where the agent has a variable for it, and its own keys."""
        place = {self.home_env: account.config_dir} if self.home_env and account.config_dir else {}
        return {**place, **account.env}

    def refuses_root(
        self, options: Mapping[str, object], env: Mapping[str, str], *, asks: bool
    ) -> tuple[str, str]:
        """Why it would not start for the user root, in a user's words, and what helps; ("", "") = it would.

        Args:
            options: Its table in `hub.toml`.
            env: The environment it would have.
            asks: Whether a rule wants it to ask before it acts.
        """
        return "", ""

    def environment(self, assignment: Assignment, own: Mapping[str, str] | None = None) -> dict[str, str]:
        """All that the agent gets on top of the base; the later wins.

        `own` (what hub needs of this agent), the account's, the model's address, the option `env` of `hub.toml`.
        """
        env = {**(own or {}), **self.account_env(assignment.account)}
        if self.base_url_env and assignment.base_url:
            env[self.base_url_env] = assignment.base_url
        more = jsonline.mapping(assignment.options.get("env"))
        return env | {name: str(value) for name, value in more.items()}


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
