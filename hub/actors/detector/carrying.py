"""Going on with adopted work: as a session of hub's, or in the target's own program in a terminal.

Owns: how each is begun, and when an agent's own session can simply go on.
Must not: make the brief, or start anything while the agent before still runs (`adopting` sees to that).
"""

from __future__ import annotations

from pathlib import Path

import attrs

from hub.actors.common.command_runs import InTerminal
from hub.actors.common.job import Jobs
from hub.actors.detector.scanner import Scanner
from hub.api.detect import Adopted
from hub.domain.contract import Contract
from hub.domain.detection.adoption import Opening, opening_prompt, resumable
from hub.domain.detection.detected import DetectedAgent
from hub.domain.missing import invalid_field
from hub.domain.routing import Target
from hub.domain.terminal import TerminalCommand
from hub.errors import Code, HubError
from hub.io.processes.probe import which
from hub.io.processes.terminal import has_terminal
from hub.io.project.places import Places
from hub.messages.detector import Adopt
from hub.messages.session import StartRun, WhoBegins
from supervisors import Ref

_TIMEOUT = 110.0
"""Seconds for the session to accept: a new machine loads its detection engine first."""


@attrs.frozen
class Carrying:
    """Begins what goes on with the work."""

    scanner: Scanner
    places: Places
    session: Ref[StartRun | WhoBegins]
    jobs: Jobs

    async def insist_fit(self, adopt: Adopt) -> str:
        """Refuse a target that cannot go on; else the account that it goes on with, "" where nobody goes on yet.

        Who may work is the session's question, also where no session begins: an account at its limit is none to open a
        terminal for.

        Raises:
            HubError: `invalid`, `agent_missing`, and as `POST /api/run` where nobody can take the work.
        """
        target = adopt.target
        if target not in self.scanner.providers:
            raise invalid_field("target", f"There is no provider {target!r}.", "See: hub providers")
        if adopt.interactive:
            self._opening(target)
            alone = StartRun("", provider=target, fallback=(target,), on_limit="stop")
            begins = await self.session.call(WhoBegins(alone, by_hand=True), timeout=_TIMEOUT)
            assert begins is not None  # noqa: S101  # whose order says "stop" waits for nobody
            return begins.account
        if adopt.start:
            order = StartRun("", provider=target)
            await self.session.call(WhoBegins(order, ends=adopt.stop), timeout=_TIMEOUT)
        return ""

    def insist_terminal(self) -> None:
        """Refuse where no terminal can be opened.

        Raises:
            HubError: `no_terminal`.
        """
        if not has_terminal(self.scanner.config.terminal.command):
            raise HubError(
                Code.NO_TERMINAL,
                "No terminal can be opened here, so the agent was left to run.",
                hint="Adopt without --interactive, which writes a brief; or set [terminal] command in your config.toml",
            )

    async def start(
        self, adopted: Adopted, contract: Contract, found: DetectedAgent, base: str, first: str
    ) -> Adopted:
        """A session of hub's, in a worktree that begins with the state of the agent's files.

        Raises:
            HubError: As `POST /api/run`.
        """
        target, known = contract.to_provider, self.scanner.providers[contract.to_provider].opening
        active = Target(target, self.scanner.config.accounts(target)[0].label)
        resumes = known is not None and known.roams and self._own(active, found)
        assert found.kept is not None  # noqa: S101  # nothing else is adopted
        order = StartRun(
            task=contract.task_goal,
            provider=target,
            session_id=contract.session_id,
            base=base,
            first=first,
            adopted=True,
            adopts=found.id,
            native_id=found.kept.session_id if resumes else "",
        )
        begun = await self.session.call(order, timeout=_TIMEOUT)
        return attrs.evolve(
            adopted,
            session_id=begun.session_id,
            branch=begun.branch,
            worktree=begun.worktree,
            resumed=resumes,
        )

    async def open(self, adopted: Adopted, target: Target, found: DetectedAgent) -> Adopted:
        """The target's own program in a terminal, where the agent worked; hub does not own it.

        Raises:
            HubError: `no_terminal`, with the command to type; `config_invalid`.
        """
        name, brief = target.provider, Path(adopted.brief)
        resumes = bool(self._opening(name).resume) and self._own(target, found)
        command = self._command(target, found, brief, resumes=resumes)

        async def ended(code: int) -> str:
            return f"{name}, opened to go on with {found.id}, has ended with status {code}"

        title, folder = f"{name} goes on with {found.id}", self.places.jobs_dir / self.jobs.new_id("job")
        work = InTerminal(title, name, command, folder, self.scanner.config.terminal.command, ended)
        await self.jobs.start(f"adopt {brief.stem}", work)
        opened = work.opened.program if work.opened is not None else ""
        return attrs.evolve(adopted, command=command.text(), terminal=opened, resumed=resumes)

    def _command(
        self, target: Target, found: DetectedAgent, brief: Path, *, resumes: bool
    ) -> TerminalCommand:
        name, accounts = target.provider, self.scanner.config.accounts(target.provider)
        provider = self.scanner.providers[name]
        account = next((each for each in accounts if each.label == target.account), accounts[0])
        session = found.kept.session_id if resumes and found.kept is not None else ""
        words = {"prompt": opening_prompt(str(brief)), "brief": str(brief), "session": session}
        argv = (which(self._program(name)), *self._opening(name).arguments(**words))
        place = str(Path(account.config_dir).expanduser()) if account.config_dir else ""
        env = provider.account_env(attrs.evolve(account, config_dir=place, env={}))
        try:
            return TerminalCommand(argv, env, found.work_dir)
        except ValueError as error:
            raise HubError(Code.CONFIG_INVALID, f"{name}: {error}.") from error

    def _own(self, target: Target, found: DetectedAgent) -> bool:
        """Whether the target may go on with the session itself: the same agent, as the same account."""
        if found.kept is None or Target(found.provider, found.account) != target:
            return False
        return resumable(found.kept.session_id)

    def _opening(self, target: str) -> Opening:
        found = self.scanner.providers[target].opening
        if found is None:
            raise invalid_field(
                "target",
                f"hub does not know how to open {target} in a terminal.",
                "Start a session on it instead: hub adopt --start",
            )
        return found

    def _program(self, target: str) -> str:
        return self.scanner.config.provider(target).program or self.scanner.providers[target].program
