"""A new worktree made ready for an agent: files of the user's own, then the setup commands.

Owns: the order of these, and what is told of them while they run.
Must not: make the worktree (`hub.io.git` does), or start an agent.
"""

from __future__ import annotations

import contextlib
import os
from functools import partial
from pathlib import Path

import attrs
import trio

from hub.actors.session.context import SessionContext
from hub.domain.event import Tag
from hub.domain.session import SessionRecord
from hub.domain.text.safe import clean, decode
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.git.aside import note_made, note_yours, read
from hub.io.git.snapshot import committed_tops, new_files
from hub.io.processes.commands import CommandResult, base_env, run_command
from hub.io.project.provisions import bring

TIMEOUT = 600.0
"""Seconds that a setup command may take."""
_TOLD = 4000
"""Characters of its end that the failure of one is told with."""
_SCRUBBED = 80_000
_LIVE = 256 * 1024
"""Bytes of one command's output that are told while it runs."""
_PACE = 0.5
"""Seconds between two looks at its output."""


@attrs.frozen
class SettingUp:
    """Done before the worktree counts as ready: after a crash it is done again."""

    context: SessionContext

    async def make_ready(self, record: SessionRecord) -> None:
        """Bring the user's files, then run the setup.

        Raises:
            HubError: `setup_failed`, with the command and the end of its output; `interrupted`.
        """
        wanted = self.context.config.worktree
        if wanted.copy or wanted.link:
            await self._bring(record)
        if not wanted.setup:
            return
        worktree, root = Path(record.worktree), self.context.places.root
        # No agent has worked yet: what no commit has and is not the user's, the setup has made, now or before a crash.
        tops = {
            *await committed_tops(root, record.branch),
            *(os.fsencode(one.split("/")[0]) for one in wanted.apart),
        }
        for number, command in enumerate(wanted.setup):
            await self._run(record, number, command)
        after = await new_files(worktree, root=root)
        note_made(self.context.places.kept_index(record.session_id), {}, after, tops)

    async def _bring(self, record: SessionRecord) -> None:
        """What is brought is noted first: there is no moment in which it could get into a snapshot."""
        wanted, root = self.context.config.worktree, self.context.places.root
        worktree, index = Path(record.worktree), self.context.places.kept_index(record.session_id)
        noted = read(index).yours
        paths = wanted.apart
        again = frozenset(path for path in paths if path.encode() in noted)
        # What the user has not cannot be brought: a file of that name is the agent's.
        fresh = [path for path in paths if not _there(worktree / path) and _there(root / path)]
        note_yours(index, [path.encode() for path in fresh])
        copy, link = (tuple(path.rstrip("/") for path in some) for some in (wanted.copy, wanted.link))
        brought = await trio.to_thread.run_sync(partial(bring, root, worktree, copy, link, again=again))
        for words, names in (
            ("copied from your folder", brought.copied),
            ("linked to your folder", brought.linked),
            ("not in your folder, and not brought", brought.missing),
            ("in the worktree already, and not brought", brought.there),
        ):
            if names:
                key = f"brought:{record.session_id}:{words}"
                await self.context.store.say(Tag.SYSTEM, f"{words}: {', '.join(names)}", source=key)

    async def _run(self, record: SessionRecord, number: int, command: str) -> None:
        shown = self.context.secrets.text(command)
        await self.context.store.say(Tag.SYSTEM, f"setup: {shown}", setup=shown)
        failpoints.hit("setup.command")
        result = await self.context.shared.unless_stopped(partial(self._followed, record, command, shown))
        await self.context.store.note(
            "setup",
            f"setup:{record.session_id}:{number}:{result.exit_code}",
            command=shown,
            exitCode=result.exit_code,
            timedOut=result.timed_out,
        )
        if result.exit_code == 0:
            seconds = result.duration_ms / 1000
            await self.context.store.say(Tag.SYSTEM, f"setup passed: {shown} ({seconds:.0f} s)", setup=shown)
            return
        how = f"took longer than {TIMEOUT:g} s" if result.timed_out else f"ended with {_status(result)}"
        end = self.context.secrets.text(clean(result.output[-_SCRUBBED:]))[-_TOLD:].strip()
        raise HubError(Code.SETUP_FAILED, f"The setup command {shown!r} {how}.\n{end}".rstrip())

    async def _followed(self, record: SessionRecord, command: str, shown: str) -> CommandResult:
        """Run it, and tell of whole lines while it runs."""
        held, told = bytearray(), 0

        async def tell(upto: int) -> None:
            nonlocal told
            lines = decode(bytes(held[:upto]))[: max(0, _LIVE - told)]
            told += upto
            del held[:upto]
            if lines.strip():
                with trio.CancelScope(shield=True):  # what is taken out of the buffer is told
                    text = self.context.secrets.text(clean(lines)).rstrip()
                    await self.context.store.say(Tag.SYSTEM, text, setup=shown, output=True)

        async def follow() -> None:
            """A log that takes nothing now is no reason to stop a command."""
            while True:
                await trio.sleep(_PACE)
                if (upto := held.rfind(b"\n") + 1) > 0:
                    with contextlib.suppress(HubError):
                        await tell(upto)

        run = partial(
            run_command,
            command,
            cwd=Path(record.worktree),
            env=base_env(),
            timeout=TIMEOUT,
            on_output=held.extend,
        )
        result: CommandResult | HubError
        async with trio.open_nursery() as nursery:
            nursery.start_soon(follow)
            try:
                result = await run()
            except HubError as error:
                result = error  # raised below, as itself and not as a group
            nursery.cancel_scope.cancel(reason="it has ended")
        if isinstance(result, HubError):
            raise result
        await tell(len(held))
        return result


def _status(result: CommandResult) -> str:
    return f"signal {result.signal}" if result.exit_code is None else f"exit status {result.exit_code}"


def _there(path: Path) -> bool:
    return os.path.lexists(path)
