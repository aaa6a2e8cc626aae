# ruff: noqa: RUF009  # attrs fields of frozen values
"""The configuration: all tables of `hub.toml` together.

Owns: `Config`, the questions the daemon asks of it, and what no table may say beside the others.
Must not: read a text (`hub.api.tables` does), or decide which layer wins (`hub.io.config.file` does).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import attrs

from hub.domain.accounts.account import DEFAULT_ACCOUNT, Account
from hub.domain.config import schema
from hub.domain.config.model import (
    OWN_AGENT,
    ApprovalRule,
    DetectSettings,
    Notify,
    PipelineSettings,
    ProfileSettings,
    ProviderSettings,
    Redaction,
    ServerSettings,
    SessionSettings,
    Terminal,
    Vision,
    WorktreeSettings,
)
from hub.domain.config.schema import SettingProblem
from hub.domain.config.values import TABLE, TABLES, Provider
from hub.domain.missing import invalid_field, no_such
from hub.errors import Code

AGENTS: Mapping[str, str] = {
    "claude": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "opencode": "OpenCode",
    "qwen": "Qwen Code",
    "copilot": "GitHub Copilot CLI",
    "aider": "Aider",
    "demo-first": "Demo agent 1",
    "demo-second": "Demo agent 2",
}
"""The agents that ship with hub, in the order in which they are offered, and their names for people."""
OPT_IN = ("demo-first", "demo-second")
"""Providers that are off unless the user enables them."""


@attrs.frozen
class Config:
    """All settings; every table may be left out."""

    server: Annotated[ServerSettings, TABLE] = ServerSettings()
    session: Annotated[SessionSettings, TABLE] = SessionSettings()
    worktree: Annotated[WorktreeSettings, TABLE] = WorktreeSettings()
    providers: Annotated[Mapping[Provider, Annotated[ProviderSettings, TABLE]], TABLE] = attrs.field(
        factory=dict
    )
    profiles: Annotated[tuple[Annotated[ProfileSettings, TABLE], ...], TABLES] = ()
    pipelines: Annotated[tuple[Annotated[PipelineSettings, TABLE], ...], TABLES] = ()
    terminal: Annotated[Terminal, TABLE] = Terminal()
    approvals: Annotated[tuple[Annotated[ApprovalRule, TABLE], ...], TABLES] = ()
    vision: Annotated[Vision, TABLE] = Vision()
    redaction: Annotated[Redaction, TABLE] = Redaction()
    detect: Annotated[DetectSettings, TABLE] = DetectSettings()
    notify: Annotated[Notify, TABLE] = Notify()

    def provider(self, name: str) -> ProviderSettings:
        """The provider's settings, the defaults when it has none; `script` is among its `options`."""
        found = self.providers.get(name, ProviderSettings())
        return (
            attrs.evolve(found, options={"script": found.script, **found.options}) if found.script else found
        )

    def accounts(self, name: str) -> tuple[Account, ...]:
        """The provider's accounts, the active one first; never empty.

        Where none is marked active the first is; where none is configured there is the agent's own default.
        """
        provider = self.provider(name)
        found = provider.accounts or (Account(DEFAULT_ACCOUNT, concurrency=provider.concurrency),)
        ordered = sorted(found, key=lambda account: not account.active)
        return tuple(attrs.evolve(account, active=rank == 0) for rank, account in enumerate(ordered))

    def account(self, name: str, label: str) -> Account:
        """The account of that label; one that is no longer configured is a bare label, with no keys."""
        return next((a for a in self.accounts(name) if a.label == label), Account(label))

    def amended_by(self, other: Config) -> Config:
        """This configuration with the other's accounts and rules; this very one, where they are the same."""
        names = {*self.providers, *other.providers}
        changed = {n for n in names if _logins(self.provider(n)) != _logins(other.provider(n))}
        if not changed and self.approvals == other.approvals:
            return self
        new = {n: attrs.evolve(self.provider(n), **_logins(other.provider(n))) for n in changed}
        return attrs.evolve(self, providers={**self.providers, **new}, approvals=other.approvals)

    def enabled_providers(self, known: Iterable[str]) -> tuple[str, ...]:
        """Which of the known providers the user wants, in their order."""
        settings = ((name, self.provider(name).enabled) for name in known)
        return tuple(name for name, on in settings if (name not in OPT_IN if on is None else on))

    def profile(self, name: str) -> ProfileSettings:
        """The profile of that name; one without anything for "".

        Raises:
            HubError: INVALID; there is no such profile.
        """
        if not name:
            return ProfileSettings("")
        found = next((profile for profile in self.profiles if profile.name == name), None)
        if found is None:
            known = [profile.name for profile in self.profiles]
            hint = "Describe it in hub.toml, under [[profiles]]."
            raise no_such("profile", name, known, code=Code.INVALID, hint=hint)
        return found

    def profile_for(self, kind: str) -> str:
        """The name of the first profile for tasks of this kind.

        Raises:
            HubError: INVALID; no profile is.
        """
        found = next((profile.name for profile in self.profiles if kind in profile.kinds), None)
        if found is None:
            known = ", ".join(sorted({each for profile in self.profiles for each in profile.kinds}))
            hint = f"There are profiles for: {known}." if known else "Give a profile `kinds` in hub.toml."
            raise invalid_field("kind", f"No profile is for tasks of the kind {kind!r}.", hint)
        return found


def contradictions(config: Config) -> Iterable[SettingProblem]:
    """What each table allows and all together do not."""
    yield from _doubles(("profiles",), "name", [profile.name for profile in config.profiles])
    yield from _doubles(("pipelines",), "name", [pipeline.name for pipeline in config.pipelines])
    folders: dict[str, tuple[str, str]] = {}
    for name, provider in config.providers.items():
        yield from _own_agent(name, provider)
        path = ("providers", name, "accounts")
        yield from _doubles(path, "label", [account.label for account in provider.accounts])
        for index, account in enumerate(provider.accounts):
            if account.active and any(other.active for other in provider.accounts[:index]):
                yield SettingProblem((*path, index, "active"), "is true for another account already")
            folder = account.config_dir.rstrip("/")
            if folder and folders.setdefault(folder, (name, account.label)) != (name, account.label):
                yield SettingProblem((*path, index, "configDir"), "is another account's directory already")


def _logins(provider: ProviderSettings) -> dict[str, Any]:
    return {"accounts": provider.accounts, "concurrency": provider.concurrency}


def _own_agent(name: str, provider: ProviderSettings) -> Iterable[SettingProblem]:
    """What is wrong with a table that describes an agent, or with one that does not and says so all the same."""
    path = ("providers", name)
    if provider.kind and name in AGENTS:
        yield SettingProblem(
            (*path, "kind"), f"is for an agent of your own: {name} is one that ships with hub"
        )
    if provider.kind and not (provider.command and provider.command[0].strip()):
        yield SettingProblem(
            path, 'needs the key "command": the program that speaks the protocol, and its arguments'
        )
    if provider.kind:
        return
    strange = [field for field in OWN_AGENT if getattr(provider, field)]
    for field in strange:
        yield SettingProblem((*path, schema.camel(field)), 'is only for an agent with kind = "acp"')
    if name not in AGENTS and not strange and not _only_accounts(provider):
        yield SettingProblem(path, f'{schema.unknown(name, AGENTS)}, or one of your own with kind = "acp"')


def _only_accounts(provider: ProviderSettings) -> bool:
    """Whether nothing but accounts is known: those that hub keeps outlive an agent that has left `hub.toml`."""
    return bool(provider.accounts) and attrs.evolve(provider, accounts=()) == ProviderSettings()


def _doubles(path: schema.Path, key: str, names: list[str]) -> Iterable[SettingProblem]:
    for index, name in enumerate(names):
        if name in names[:index]:
            yield SettingProblem((*path, index, key), "is used twice")
