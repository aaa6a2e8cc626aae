"""The tables of `hub.toml`: every setting, its default, and what it may be.

Owns: one attrs class a table.
Must not: open a file, or check one table against another (`hub.domain.config.reader` does).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import attrs

from hub.domain.accounts.account import Account
from hub.domain.approval import Severity
from hub.domain.config.schema import SettingRule, called, whole
from hub.domain.config.values import (
    ONE_OF,
    TABLE,
    TABLES,
    Argv,
    CoAuthor,
    Commands,
    Count,
    Dollars,
    Env,
    Fraction,
    Host,
    Inside,
    Interval,
    Model,
    Name,
    Option,
    Origin,
    Places,
    Positive,
    Provider,
    Providers,
    Seconds,
    Switch,
    Task,
    Text,
    Texts,
    Token,
    Url,
    Variable,
)


@attrs.frozen
class ServerSettings:
    """`[server]`: where the API listens, and whom it lets in."""

    port: Annotated[int, whole(0, 65535)] = 4748
    """0 = any free port. Where nobody has set it, another one is taken if it is in use."""
    host: Host = "127.0.0.1"
    token: Token = attrs.field(default="", repr=False)
    """When set, every request must carry it."""
    socket: Text = ""
    """The path of a unix socket that is served beside the port; "" = none. In the project, where it is relative."""
    allowed_origins: Annotated[tuple[Origin, ...], SettingRule("an array of origins")] = attrs.field(
        default=(), metadata=called("allowed_origins")
    )


@attrs.frozen
class SessionSettings:
    """`[session]`: how a task is run."""

    chain: Providers = ()
    concurrent: Places = 1
    """How many sessions may run at once."""
    threshold: Fraction = 0.9
    """Fraction of a quota used at which the forecast hands off before the wall."""
    max_handoffs: Count = 5
    on_limit: Annotated[Literal["handoff", "wait", "stop"], ONE_OF] = "handoff"
    verify: Commands = ()
    max_cost: Dollars | None = None
    """US dollars that a session may cost before its user is asked; None = any sum."""
    max_tokens: Annotated[int, whole(1)] | None = None
    """The same in tokens, in and out."""
    verify_timeout: Positive = 600.0
    verify_tries: Annotated[int, whole(0, 20)] = 2
    """How often an agent gets work back that the acceptance commands refused, before another one gets it."""
    pause_grace: Seconds = 30.0
    """How long to wait for a safe point before the agent is interrupted."""
    stop_grace: Seconds = 5.0
    """The same when the user stops the session."""
    resume_timeout: Positive = 120.0
    """How long a receiver may take to its first sign of life."""
    silent_after: Positive | None = None
    """None = each provider's own."""
    orphan_grace: Seconds = 120.0
    """How long an agent may run on without a daemon; 0 = not at all."""
    retries: Annotated[int, whole(0, 100)] = 5
    """How many overloads or short limits in a row are waited out before the work is handed off."""


@attrs.frozen
class WorktreeSettings:
    """`[worktree]`: what a new worktree is given before an agent works in it."""

    setup: Commands = ()
    """Run in it one after the other, before the first agent."""
    setup_timeout: Positive = 600.0
    """Seconds that each of them may take."""
    copy: Annotated[tuple[Inside, ...], SettingRule("an array of paths inside the project")] = ()
    """Untracked files and folders of the user's that are copied into it; never committed."""
    link: Annotated[tuple[Inside, ...], SettingRule("an array of paths inside the project")] = ()
    """The same, as links to the user's own."""

    @property
    def apart(self) -> tuple[str, ...]:
        """All these paths: they are in no commit, also where they are untracked and would come along."""
        return tuple(path.rstrip("/") for path in (*self.copy, *self.link))


@attrs.frozen
class ProviderSettings:
    """`[providers.<name>]`: one agent.

    With `kind` it describes an agent of the user's own (`hub.providers.acp.agent`), which the keys behind `kind`
    belong to.
    """

    enabled: Switch | None = None
    """None = the built-in choice: on, but off for the scripted agents."""
    declared_cap: Count | None = None
    """Tokens of a quota that the provider does not tell."""
    quota_endpoint: Switch = False
    """Whether hub may read the agent's own login and ask its maker's server for the quota."""
    quota_url: Url = ""
    """That server; "" = the maker's."""
    model: Model = ""
    base_url: Url = ""
    program: Text = ""
    script: Text = ""
    """The steps of a scripted agent: a path."""
    env: Env = attrs.field(factory=dict, repr=False)
    options: Annotated[Mapping[str, Option], TABLE] = attrs.field(factory=dict)
    """What only this agent understands."""
    accounts: Annotated[tuple[Annotated[Account, TABLE], ...], TABLES] = ()
    concurrency: Places = 1
    """How many sessions may use its own login at once, where it has no accounts."""
    co_author: CoAuthor | None = None
    """Who it is in the trailer of a commit that its work is taken in; "" = nobody, None = the built-in choice."""
    kind: Annotated[Literal["", "acp"], ONE_OF] = ""
    command: Argv = ()
    """How the agent is started, so that it speaks ACP."""
    display_name: Name = ""
    key_names: Annotated[tuple[Variable, ...], SettingRule("an array of variables' names")] = ()
    """Which names of `.hub/.env` the agent may have."""
    home_env: Variable = ""
    """The variable that takes an account's `configDir`."""
    base_url_env: Variable = ""
    """The variable that takes `baseUrl`."""
    model_env: Variable = ""
    """The variable that takes `model`."""


OWN_AGENT = ("command", "display_name", "key_names", "home_env", "base_url_env", "model_env")
"""Settings that only an agent with a `kind` has."""


@attrs.frozen
class ProfileSettings:
    """`[[profiles]]`: a named way to work."""

    name: Name
    chain: Providers = ()
    kinds: Texts = ()
    skills: Texts = ()
    context_hint: Text = ""


@attrs.frozen
class PipelineNode:
    """One node of a pipeline. Its graph is checked where pipelines are (`hub.domain.pipeline.graph`)."""

    id: Name
    provider: Provider
    task: Task
    depends_on: Texts = ()
    fallback: Providers = ()
    verify: Commands = ()


@attrs.frozen
class PipelineSettings:
    """`[[pipelines]]`: a named graph of tasks."""

    name: Name
    nodes: Annotated[tuple[Annotated[PipelineNode, TABLE], ...], TABLES] = ()


@attrs.frozen
class Terminal:
    """`[terminal]`: how a terminal is opened; () = the platform's usual ones."""

    command: Argv = ()


@attrs.frozen
class Notify:
    """`[notify]`: what its user hears of while he looks elsewhere, and how."""

    on: Annotated[
        tuple[Annotated[Literal["needs", "done", "failed", "wall"], ONE_OF], ...],
        SettingRule("an array of kinds of news"),
    ] = ("needs", "done", "failed", "wall")
    bell: Switch = True
    """Whether the terminal that the daemon runs in rings, and shows the words where it can (OSC 9)."""
    desktop: Switch = False
    """Whether the desktop shows it."""
    command: Argv = ()
    """A program that is run with the words in its environment; () = none."""
    urls: Argv = ()
    """Services that apprise knows, each by its address; the extra `notify` brings it."""


@attrs.frozen
class ApprovalRule:
    """`[[approvals]]`: what is asked, allowed or denied; the first rule that matches wins (`hub.domain.approval`)."""

    action: Annotated[Literal["tool", "start", "handoff"], ONE_OF] = "tool"
    """An agent's use of a tool, the start of an agent with a task, or its start with another one's work."""
    provider: Text = ""
    """Whose tool, or who is to start: a name, or a pattern with * and ?; "" = everybody's."""
    tool: Text = ""
    """A tool's name, or a pattern with * and ?; "" = every tool."""
    command: Text = ""
    """The same for the command or path the tool is used on."""
    decision: Annotated[Literal["ask", "allow", "deny"], ONE_OF] = "ask"
    severity: Annotated[Severity, ONE_OF] = "warn"
    reason: Text = ""
    timeout: Positive | None = None
    """Seconds after which nobody's answer is a no; None = it waits."""


@attrs.frozen
class Redaction:
    """`[redaction]`: what is hidden beside the values hub holds and the forms its own rules know."""

    detection: Switch = True
    """Whether a detection engine looks for secrets that nobody told hub: it takes memory and half a second."""


@attrs.frozen
class DetectSettings:
    """`[detect]`: agents that run without hub."""

    ambient: Switch = True
    """Whether the daemon looks for them by itself, and tells of each that is new and of what it was first asked."""
    interval: Interval = 1.5
    """Seconds between two looks."""


@attrs.frozen
class Vision:
    """`[vision]`: the model that looks at screenshots."""

    enabled: Switch = False
    provider: Text = ""
    model: Text = ""
    base_url: Url = ""
    max_pixels: Annotated[int, whole(1)] = 1_500_000
