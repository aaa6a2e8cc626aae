"""The user's own commands in a session's worktree: setup before the first agent works, acceptance after one says it is done.

Owns: the user's files that are brought, the setup commands, the acceptance commands, and what is told of all of them.
Must not: make the worktree (`hub.io.git` does), start an agent, or decide what a refusal leads to.
Tests: tests/hub/actors/session/test_commands_setup.py, tests/hub/actors/session/test_commands_acceptance.py
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import attrs
import trio

from hub.actors.common.condition import beside
from hub.actors.common.live_output import LiveOutput
from hub.actors.session.context import SessionContext
from hub.domain.event import Tag
from hub.domain.meta import EventMeta
from hub.domain.result.acceptance import orders_of, program_of
from hub.domain.result.gate import Check, GateResult
from hub.domain.session import SessionRecord
from hub.domain.text.figures import first_of
from hub.domain.text.safe import clean
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.git.aside import LEFT, note_left, note_made, note_yours, read
from hub.io.git.proving import changed_since_start
from hub.io.git.snapshot import committed_tops, new_files, tree_hash
from hub.io.git.worktree import add_worktree
from hub.io.processes.commands import CommandResult, base_env, run_command
from hub.io.processes.probe import which
from hub.io.project.provisions import bring

_TOLD = 4000
"""Characters of its end that the failure of one is told with."""
_SCRUBBED = 80_000
_LIVE = 256 * 1024
"""Characters of one command's output that are told while it runs."""
_PACE = 0.5
"""Seconds between two looks at its output."""
_SHOWN = 8000
"""Characters of an acceptance command's output that are kept."""
_NAMED = 5
"""Files left behind that are named."""


async def prepare(context: SessionContext, record: SessionRecord) -> None:
    """Make the worktree ready: in a large repository that takes its time, and a stop does not wait for it.

    Raises:
        HubError: `interrupted`: git was told to end. What it had made is the next call's to finish. Or as `set_up`.
    """
    begun_with_more = await context.shared.unless_stopped(
        partial(
            add_worktree,
            context.places.root,
            Path(record.worktree),
            record.branch,
            record.base,
            carry_dirty=record.carries,
            first=record.first,
            apart=context.config.worktree.apart,
        )
    )
    if begun_with_more and not record.first:
        await context.store.say(Tag.SYSTEM, "your uncommitted changes are the branch's first commit")
    await set_up(context, record)
    await context.store.update(worktree_ready=True)


async def set_up(context: SessionContext, record: SessionRecord) -> None:
    """Bring the user's files, then run the setup; a program that acceptance wants and is not here is named.

    Done before the worktree counts as ready: after a crash it is done again.

    Raises:
        HubError: `setup_failed`, with the command and the end of its output; `interrupted`.
    """
    wanted = context.config.worktree
    if wanted.copy or wanted.link:
        await _bring(context, record)
    if wanted.setup:
        await _run_setup(context, record)
    for command, shown in zip(record.verify, context.assertions(record), strict=True):
        program = program_of(command)
        if program and not which(program):
            said = f"{program} is not on PATH, and an acceptance command begins with it: {shown}"
            key = f"unproven:{record.session_id}:{program}"
            await context.store.say(Tag.ERROR, said, source=key, command=shown)


async def _run_setup(context: SessionContext, record: SessionRecord) -> None:
    wanted = context.config.worktree
    worktree, root = Path(record.worktree), context.places.root
    # No agent has worked yet: what no commit has and is not the user's, the setup has made, now or before a crash.
    tops = {
        *await committed_tops(root, record.branch),
        *(os.fsencode(one.split("/")[0]) for one in wanted.apart),
    }
    for number, command in enumerate(wanted.setup):
        await _run(context, record, number, command)
    after = await new_files(worktree, root=root)
    note_made(context.places.kept_index(record.session_id), {}, after, tops)


async def _bring(context: SessionContext, record: SessionRecord) -> None:
    """What is brought is noted first: there is no moment in which it could get into a snapshot."""
    wanted, root = context.config.worktree, context.places.root
    worktree, index = Path(record.worktree), context.places.kept_index(record.session_id)
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
            await context.store.say(Tag.SYSTEM, f"{words}: {', '.join(names)}", source=key)


async def _run(context: SessionContext, record: SessionRecord, number: int, command: str) -> None:
    shown = context.secrets.text(command)
    await context.store.say(Tag.SYSTEM, f"setup: {shown}", setup=shown)
    failpoints.hit("setup.command")
    result = await context.shared.unless_stopped(partial(_followed, context, record, command, shown))
    await context.store.note(
        "setup",
        f"setup:{record.session_id}:{number}:{result.exit_code}",
        command=shown,
        exitCode=result.exit_code,
        timedOut=result.timed_out,
    )
    if result.exit_code == 0:
        seconds = result.duration_ms / 1000
        await context.store.say(Tag.SYSTEM, f"setup passed: {shown} ({seconds:.0f} s)", setup=shown)
        return
    limit = context.config.worktree.setup_timeout
    how = f"took longer than {limit:g} s" if result.timed_out else f"ended with {_status(result)}"
    end = context.secrets.text(clean(result.output[-_SCRUBBED:]))[-_TOLD:].strip()
    raise HubError(Code.SETUP_FAILED, f"The setup command {shown!r} {how}.\n{end}".rstrip())


async def _followed(
    context: SessionContext, record: SessionRecord, command: str, shown: str
) -> CommandResult:
    """Run it, and tell what it prints, up to a limit, while it runs."""
    left = _LIVE

    async def say(lines: str) -> None:
        nonlocal left
        if left:
            # Searched before it is cut: of half a secret nobody could tell that it is one.
            told = context.secrets.text(clean(lines)).rstrip()[:left]
            left -= len(told)
            await context.store.say(Tag.SYSTEM, told, setup=shown, output=True)

    output = LiveOutput(say, _PACE)
    run = partial(
        run_command,
        command,
        cwd=Path(record.worktree),
        env=base_env(),
        timeout=context.config.worktree.setup_timeout,
        on_output=output.hold,
    )
    result = await beside(run, output.follow)
    await output.finish()
    return result


def _status(result: CommandResult, word: str = "exit status") -> str:
    return f"signal {result.signal}" if result.exit_code is None else f"{word} {result.exit_code}"


def _there(path: Path) -> bool:
    return os.path.lexists(path)


async def gate(context: SessionContext, record: SessionRecord, key: str) -> GateResult:
    """Run every acceptance command in the worktree and put the results on record.

    The tree is hashed *after* the commands ran: what they changed is part of what is judged.

    Raises:
        HubError: `interrupted`; the session is to stop. Or as `tree_hash`.
    """
    checks: list[Check] = []
    worktree, unless_stopped = Path(record.worktree), context.shared.unless_stopped
    fresh = partial(new_files, worktree, root=context.places.root)
    before = await unless_stopped(fresh)
    commands = zip(record.verify, context.assertions(record), strict=True)
    for number, (command, shown) in enumerate(commands):
        await context.store.say(Tag.SYSTEM, f"verify: {shown}", source=f"{key}:{number}:start", command=shown)
        check = await _check(context, record, command, shown)
        checks.append(attrs.evolve(check, source=await _told(context, check)))
    # What they have made besides is no work of the agent's.
    after = await unless_stopped(fresh)
    note_left(context.places.kept_index(record.session_id), before, after)
    tree = await unless_stopped(partial(tree_hash, worktree, root=context.places.root))
    for check in checks:
        await context.store.note(
            "verify",
            f"{key}:{check.command}:{check.exit_code}:{tree}",
            command=check.command,
            exitCode=check.exit_code,
            passed=check.passed,
            timedOut=check.timed_out,
            tree=tree,
            changed=list(check.changed),
        )
    return GateResult(tuple(checks), tree)


async def _check(context: SessionContext, record: SessionRecord, command: str, shown: str) -> Check:
    changed = await _changed(context, record, command)
    timeout = context.config.session.verify_timeout
    run = partial(run_command, command, cwd=Path(record.worktree), timeout=timeout)
    result = await context.shared.unless_stopped(run)
    # Only its end is shown; what is cut off before it is more than any secret's length.
    output = context.secrets.text(result.output[-_SCRUBBED:])[-_SHOWN:]
    how = f"took longer than {timeout:g} s" if result.timed_out else _status(result, "exit")
    return Check(shown, result.exit_code, output, result.duration_ms, result.timed_out, how, changed=changed)


async def _told(context: SessionContext, check: Check) -> int:
    """Puts the result on record; the id of its event."""
    verdict = "passed" if check.passed else f"failed ({check.how})"
    doubt = f" (changed since the start: {', '.join(check.changed)})" if check.changed else ""
    told: EventMeta = {"command": check.command}
    if check.exit_code is not None:
        told["exitCode"] = check.exit_code
    told |= {"output": check.output, "durationMs": check.duration_ms}
    if check.changed:
        told["changed"] = list(check.changed)
    tag = Tag.SYSTEM if check.passed else Tag.ERROR
    return await context.store.say(tag, f"verify {verdict}: {check.command}{doubt}", **told)


async def _changed(context: SessionContext, record: SessionRecord, command: str) -> tuple[str, ...]:
    """What the command is made of and the session has changed: it judges all the same, and that is said beside it."""
    root, worktree = context.places.root, Path(record.worktree)
    return await changed_since_start(root, worktree, record.session_id, record.base, orders_of(command))


async def publish_left(context: SessionContext, paths: Sequence[str]) -> None:
    """What acceptance commands left behind is told in one line, once."""
    if paths:
        key = f"left:{context.store.now.session_id}:{len(paths)}:{paths[0]}"
        words = f"not in the snapshot: {first_of(paths, _NAMED)} ({LEFT})"
        await context.store.say(Tag.SYSTEM, words, source=key)
