"""The providers' page: every agent, its accounts, and its circuit breaker.

Owns: their lines, and what is shown of one.
Must not: install, log in or configure.
Tests: tests/hub/tui/test_pages.py
"""

from __future__ import annotations

from collections.abc import Iterator

from hub.api.observability import Breaker
from hub.api.providers import ProviderConfig, ProviderStatus
from hub.domain.text.figures import counted
from hub.domain.wallclock import moment
from hub.tui.dialogs import Read
from hub.tui.page import Page, cut
from hub.tui.rows import Row, Rows, row

_LOOKS = {"active": "good", "standby": "", "exhausted": "warn", "error": "dim"}
_CIRCUITS = {"open": "bad", "half-open": "warn"}


class ProvidersPage(Page):
    """Every agent."""

    NAME = "providers"
    ON = frozenset({"system", "quota", "handoff", "error"})

    async def load(self) -> None:
        """How they are, and how their breakers stand."""
        found = await self.hub.daemon.get(list[ProviderStatus], "/api/providers")
        circuits = await self.hub.daemon.get(list[Breaker], "/api/circuit")
        self.heading("Providers and their accounts  (circuit open: not asked until it has recovered)")
        self.query_one(Rows).show(rows_of(found, circuits, self.now))

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """What is configured."""
        self.attempt(self._details(event.key))

    async def _details(self, name: str) -> None:
        found = await self.hub.daemon.get(list[ProviderConfig], "/api/config/providers")
        one = next((each for each in found if each.name == name), None)
        if one is not None:
            self.app.push_screen(Read(one.display_name, list(details(one, self.now))))


def rows_of(found: list[ProviderStatus], circuits: list[Breaker], now: float) -> Iterator[Row]:
    """Those that can work first."""
    failing = {one.name: one for one in circuits if one.failures or str(one.state) != "closed"}
    for one in sorted(found, key=lambda one: list(_LOOKS).index(str(one.status))):
        until = f" until {moment(one.resets_at, now)}" if one.resets_at else ""
        model = f"  {one.model}" if one.model else ""
        look = _LOOKS.get(str(one.status), "")
        yield row(
            (f"{cut(one.display_name, 20):<21}", "bold" if look != "dim" else "dim"),
            (f"{one.status}{until}  " if look != "dim" else "", look),
            (f"{one.reason}{model}", "dim"),
            key=one.name,
        )
        several = len(one.accounts) > 1
        for account in one.accounts:
            circuit = failing.get(f"{one.name}/{account.label}")
            if not several and circuit is None:
                continue
            until = f" until {moment(account.resets_at, now)}" if account.resets_at else ""
            yield row(
                (f"  {cut(account.label, 18):<19}", "dim"),
                (f"{account.status}{until}" if several else "", _LOOKS.get(str(account.status), "")),
                *_circuit(circuit, now),
                (f"  {account.reason}" if several else "", "dim"),
            )


def _circuit(circuit: Breaker | None, now: float) -> Iterator[tuple[str, str]]:
    if circuit is None:
        return
    opened = f" since {moment(circuit.opened_at, now)}" if isinstance(circuit.opened_at, str) else ""
    failures = f", {counted(circuit.failures, 'failure')}" if circuit.failures else ""
    yield f"  circuit {circuit.state}{opened}{failures}", _CIRCUITS.get(str(circuit.state), "")


def details(one: ProviderConfig, now: float) -> Iterator[Row]:
    """How one is configured, installed and logged in."""
    said = "installed" if one.install.installed else "not installed"
    login = "logged in" if one.auth.logged_in else "not logged in"
    yield row(("program   ", "dim"), f"{said} {one.install.version} {one.install.path}")
    if not one.install.installed:
        yield row(("install   ", "dim"), one.install.command)
    yield row(("login     ", "dim"), f"{login} {one.auth.method}")
    if not one.auth.logged_in and one.auth.login_command:
        yield row(("log in    ", "dim"), one.auth.login_command)
    yield row(("enabled   ", "dim"), "yes" if one.enabled else "no")
    if one.model or one.base_url:
        yield row(("model     ", "dim"), f"{one.model} {one.base_url}")
    if one.probe is not None:
        yield row(("probe     ", "dim"), f"{one.probe.detail or 'fine'}, {moment(one.probe.checked_at, now)}")
    able = [name for name, can in one.capabilities.items() if can]
    yield row(("can       ", "dim"), ", ".join(able) or "nothing told")
    for account in one.accounts:
        active = "  active" if account.active else ""
        logged = "" if account.logged_in else "  not logged in"
        yield row(
            ("account   ", "dim"), f"{account.label}{active}{logged}", (f"  {account.config_dir}", "dim")
        )
