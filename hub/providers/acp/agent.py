"""Any agent that speaks the Agent Client Protocol, from its table in `hub.toml` alone.

Owns: argv, environment and capabilities of such an agent.
Must not: know any one of them, or find its settings by itself.

    [providers.goose]
    kind = "acp"
    command = ["goose", "acp"]
    keyNames = ["OPENAI_API_KEY"]      # which names of .hub/.env it may have
    homeEnv = "GOOSE_PATH_ROOT"        # the variable that moves its own directory: one for each account
    baseUrlEnv = "OPENAI_HOST"         # the variable that takes `baseUrl`
    modelEnv = "GOOSE_MODEL"           # the variable that takes `model`; without it the protocol chooses

What cannot be known of it is not claimed: it reports no quota and no cost, and its contract is the head of its first
prompt. That it can do the rest is the protocol's promise; a session that it cannot take up again starts afresh.

Options, all optional: `mode` (one of the session modes it offers), `ask` (true = it asks before everything it does, and
a person or a rule answers; otherwise permissions are given and told, and it is not started under a rule about tools),
`partial` (text as it is written), `args` (more arguments), `env` (more environment).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from hub.domain.config.model import ProviderSettings
from hub.providers import jsonline
from hub.providers.acp.stream import AcpStream
from hub.providers.base import Assignment, Launch, Stdin, Stream
from hub.providers.provider import CONVERSES, Provider

_UNKNOWN = (
    "may act without asking, for all that hub knows. If it asks before everything it does, in the mode you run it in, "
    "say `options = {{ ask = true }}` in [providers.{name}]."
)


@attrs.frozen(kw_only=True)
class AcpAgent(Provider):
    """A provider that a table in `hub.toml` describes."""

    arguments: Sequence[str] = ()
    """What follows the program in the configured command."""
    model_env: str = ""

    def unasked(self, options: Mapping[str, object]) -> Mapping[str, str]:
        """Nothing, if its user says so: the protocol lets an agent ask and obliges none."""
        if options.get("ask") is True:
            return {}
        return {"*": _UNKNOWN.format(name=self.name)}

    def launch(self, assignment: Assignment) -> Launch:
        """The configured command; standard input stays open as the channel."""
        more = jsonline.texts(assignment.options.get("args"))
        argv = [assignment.program or self.program, *self.arguments, *more]
        model = {self.model_env: assignment.model} if self.model_env and assignment.model else {}
        return Launch(argv, self.environment(assignment, model), assignment.worktree, Stdin.PIPE)


def configured(name: str, settings: ProviderSettings) -> AcpAgent:
    """The agent of a table whose `kind` is `acp`."""
    title = settings.display_name or name

    def stream(assignment: Assignment) -> Stream:
        model = "" if settings.model_env else assignment.model
        wishes = {"mode": jsonline.text(assignment.options.get("mode")), "model": model}
        people = assignment.options.get("ask", assignment.asks) is True
        return AcpStream(assignment, title=title, people=people, wishes=wishes)

    return AcpAgent(
        name=name,
        display_name=title,
        stream=stream,
        program=settings.command[0],
        arguments=settings.command[1:],
        key_names=settings.key_names,
        home_env=settings.home_env,
        capabilities=attrs.evolve(CONVERSES, accounts=bool(settings.home_env)),
        base_url_env=settings.base_url_env,
        model_env=settings.model_env,
    )
