"""What the programs of all agents have in common: their facts, and the environment they get.

Owns: the fields every `Provider` has, with the values most share, and which setting wins over which.
Must not: know any one agent, or how it is told what to do (each folder's `agent.py` does).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import attrs

from hub.domain.accounts.account import Account
from hub.domain.accounts.login import LoginStore
from hub.domain.intent.amendment import Untold
from hub.providers import jsonline
from hub.providers.base import Assignment, Capabilities, Texts


@attrs.frozen
class Program:
    """The half of a `Provider` that is facts; `launch` and `stream` are the other."""

    name: str
    display_name: str
    program: str
    capabilities: Capabilities
    install_command: Sequence[str] = ()
    login_command: Sequence[str] = ()
    login_stores: Sequence[LoginStore] = ()
    version_args: Sequence[str] = ("--version",)
    key_names: Sequence[str] = ()
    silent_after: float = 300.0
    home_env: str = ""
    """The variable that moves the agent's own directory, and so its login and sessions; "" = it has none."""
    base_url_env: str = ""
    """The variable that says where its model is served; "" = it is told in another way."""
    untold: Collection[Untold] = ()
    """What its stream leaves out and its own store has."""

    def unasked(self, options: Mapping[str, object]) -> Mapping[str, str]:
        """What the agent does without asking, however it is started; see `Provider`."""
        return (
            {}
            if self.capabilities.approvals
            else {"*": "cannot ask for permission, which a rule of [[approvals]] wants."}
        )

    def loose(self, assignment: Assignment, env: Mapping[str, str], texts: Texts) -> Mapping[str, str]:
        """What its user's own settings let it do without asking: nothing that hub's do not outrank."""
        return {}

    def account_env(self, account: Account) -> Mapping[str, str]:
        """The account's directory, where the agent has a variable for it, and its own keys."""
        place = {self.home_env: account.config_dir} if self.home_env and account.config_dir else {}
        return {**place, **account.env}

    def refuses_root(
        self,
        options: Mapping[str, object],
        env: Mapping[str, str],
        *,
        asks: bool,
    ) -> tuple[str, str]:
        """Most do as any user asks."""
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
