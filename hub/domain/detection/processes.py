"""Which of the machine's processes belong to AI coding agents.

Owns: the process signature of an agent (`Signature`), and the rules by which a process is recognised.
Must not: read `/proc` or a store, or know any one agent (each agent's signature stands in its folder).

Rules:
 1. A name is no identity. In order: the vendor's own registry of running sessions, a store the process holds open,
    its executable, the script an interpreter runs, and the name of that script last.
 2. A file of the registry counts only with the start time of the process it names: it may have outlived that.
 3. What only asks something and ends, and what serves another agent, is a helper.
 4. What works on sessions for other processes is a server: it stands for those that it works on, and for none of its own.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import attrs

from hub.domain.interpreters import NODE, PYTHON, Interpreter
from hub.domain.text.patterns import late

_SESSION_ID = late(r"^[A-Za-z0-9][A-Za-z0-9_-]{7,127}$")
COMMAND_LINE = "command-line"
_TAKES_VALUE = frozenset({"-r", "-C", "-c", "--config", "--cwd"})
"""Options of agents whose value is the next argument."""


class ProcessEvidence(StrEnum):
    """What a process was recognised by, best first."""

    REGISTRY = "registry"
    OPEN_FILE = "open_file"
    EXECUTABLE = "executable"
    SCRIPT = "script"
    NAME = "name"


@attrs.frozen(kw_only=True)
class Signature:
    """How the processes of one agent look.

    Attributes:
        executables: Ends of the executable's path, whole steps: `bin/claude.exe`.
        packages: Folders that are somewhere in the path of an executable or script: `@google/gemini-cli`.
        program: The name it is called by.
        title: What its interpreter writes over its own arguments, where that is another name.
        home: The variable that moves the folder in which it keeps its sessions.
        default_home: Where that folder is below the user's home when the variable is not set.
        below: What the agent adds to the variable's value.
        registry: The folder below that with one `<pid>.json` for each of its processes.
        store: A pattern of the files it holds open, searched in their paths; a group `home` is the folder, a group
            `session` the session's id.
        session_options: Options whose value is the id of a session.
        helpers: First arguments with which it serves another agent, or only asks and ends, with blanks between them.
        servers: Arguments of processes that work on sessions for others, or host those that do: each a first one, and
            what must come later.
        surfaces: Words of its registry, or of its arguments, for the way it was started, and hub's word for that.
    """

    executables: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    program: str = ""
    title: str = ""
    home: str = ""
    default_home: str = ""
    below: str = ""
    registry: str = ""
    store: str = ""
    session_options: tuple[str, ...] = ()
    helpers: str = ""
    servers: tuple[tuple[str, ...], ...] = ()
    surfaces: Mapping[str, str] = attrs.field(factory=dict)

    def home_of(self, env: Mapping[str, str]) -> str:
        """The folder in which a process with this environment keeps its sessions; "" where nobody knows."""
        moved = env.get(self.home, "") if self.home else ""
        if moved:
            return _joined(moved, self.below)
        user = env.get("HOME", "")
        return _joined(user, self.default_home) if user and self.default_home else ""


@attrs.frozen(kw_only=True)
class Process:
    """What the machine tells of one process."""

    pid: int
    parent: int
    starttime: int
    """Ticks since boot."""
    began: float
    """The same in epoch seconds."""
    executable: str
    argv: tuple[str, ...]
    script: str = ""
    """What an interpreter runs, links resolved."""
    cwd: str = ""
    env: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    open_files: tuple[str, ...] = ()
    run_id: str = ""
    """The dispatch of hub's it belongs to."""


@attrs.frozen(kw_only=True)
class RegistryEntry:
    """What the vendor's registry says of one process."""

    pid: int
    starttime: int
    session_id: str
    surface: str = ""


@attrs.frozen(kw_only=True)
class Recognised:
    """A process that belongs to an agent."""

    process: Process
    provider: str
    evidence: ProcessEvidence
    helper: bool = False
    """Whether it serves another program and is no agent by itself."""
    home: str = ""
    session_id: str = ""
    """Where registry, open files or arguments name one."""
    server: bool = False
    """Whether it works on sessions for other processes, as many as it holds open."""
    held: tuple[str, ...] = ()
    """The sessions whose files it holds open, in the order of its descriptors."""
    surface: str = COMMAND_LINE


def named(executable: str, script: str, signature: Signature) -> ProcessEvidence | None:
    """By what executable or script are the agent's, None where they are not; for every process, so it is cheap."""
    if not script:
        known = _ends(executable, signature.executables) or _within(executable, signature.packages)
        return ProcessEvidence.EXECUTABLE if known else None
    if _within(script, signature.packages):
        return ProcessEvidence.SCRIPT
    program = signature.program
    called = script == signature.title or (program and last_of(script).partition(".")[0] == program)
    return ProcessEvidence.NAME if called else None


def recognise(
    process: Process, signatures: Mapping[str, Signature], entries: Mapping[str, RegistryEntry]
) -> Recognised | None:
    """The agent a process belongs to; None when to none.

    Args:
        process: With its open files, where they could be read.
        signatures: By the provider's name.
        entries: What each provider's registry has under this pid, by the provider's name.
    """
    found = (
        _recognise(process, provider, signature, entries.get(provider))
        for provider, signature in signatures.items()
    )
    return min((one for one in found if one is not None), key=rank, default=None)


def _recognise(
    process: Process, provider: str, signature: Signature, entry: RegistryEntry | None
) -> Recognised | None:
    # A registry's file may outlive its process, and the number be another one's by now.
    told = entry if entry is not None and entry.starttime == process.starttime else None
    by_name = named(process.executable, process.script, signature)
    if told is None and by_name is None:
        return None
    home, held = _held(process.open_files, signature)
    session_id, server = "".join(held[-1:]), told is None and _serves(process, signature)
    evidence = by_name or ProcessEvidence.NAME
    if told is not None:
        evidence, session_id = ProcessEvidence.REGISTRY, told.session_id
    elif session_id or home:
        evidence = ProcessEvidence.OPEN_FILE
    words = (told.surface,) if told is not None else process.argv[1:]
    return Recognised(
        process=process,
        provider=provider,
        evidence=evidence,
        helper=told is None and _helps(process, signature),
        home=home or signature.home_of(process.env),
        session_id=session_id or _asked(process.argv, signature),
        server=server,
        held=held,
        surface=next(
            (signature.surfaces[word] for word in words if word in signature.surfaces and not server),
            COMMAND_LINE,
        ),
    )


def rank(found: Recognised) -> int:
    """Less is better evidence."""
    return list(ProcessEvidence).index(found.evidence)


def _ends(path: str, ends: Sequence[str]) -> bool:
    return any(path == end or path.endswith(f"/{end}") for end in ends)


def _within(path: str, packages: Sequence[str]) -> bool:
    return any(f"/{package}/" in path for package in packages)


def _joined(folder: str, below: str) -> str:
    return f"{folder.rstrip('/')}/{below}".rstrip("/")


def _held(open_files: Iterable[str], signature: Signature) -> tuple[str, tuple[str, ...]]:
    """The home that the open files tell, "" where they do not, and the ids of the sessions."""
    home, sessions = "", dict[str, None]()
    for path in open_files if signature.store else ():
        found = re.search(signature.store, path)
        if found is not None:
            told = found.groupdict()
            home = told.get("home") or home
            sessions |= dict.fromkeys(filter(None, (told.get("session"),)))
    return home, tuple(sessions)


def _helps(process: Process, signature: Signature) -> bool:
    own, helpers = _own_arguments(process), signature.helpers.split()
    return any(words and words[0] in helpers for words in (own, arguments_of(own)))


def _serves(process: Process, signature: Signature) -> bool:
    own = _own_arguments(process)
    first = {*own[:1], *arguments_of(own)[:1]}
    return any(words[0] in first and all(word in own for word in words) for words in signature.servers)


def _own_arguments(process: Process) -> Sequence[str]:
    """What the agent was told: without the interpreter's own, and the script."""
    interpreter = _interpreter(process.executable)
    own = process.argv[1:]
    return tuple(interpreter.script(own)[1:]) if interpreter else own


def _asked(argv: Sequence[str], signature: Signature) -> str:
    """The session the agent was told to go on with: a name, or what cannot be an id, is none."""
    halves = (word.split("=", 1) if word.startswith("-") else [word] for word in argv)
    for option, value in itertools.pairwise(itertools.chain.from_iterable(halves)):
        if option in signature.session_options and _SESSION_ID().match(value):
            return value
    return ""


def script_of(executable: str, argv: Sequence[str]) -> str:
    """What an interpreter runs, as it was told to: a path, or a module's name after `-m`; "" of anything else.

    A script may have written a name over its arguments: it is what is left of them.
    """
    interpreter = _interpreter(executable)
    if interpreter is None:
        return ""
    if argv and not any(argv[1:]):
        return "" if "/" in argv[0] or _interpreter(argv[0]) else argv[0]
    return next(iter(interpreter.script(argv[1:])), "")


def arguments_of(argv: Sequence[str]) -> Sequence[str]:
    """What follows the leading options of an agent."""
    while argv and argv[0].startswith("-"):
        argv = argv[2:] if argv[0] in _TAKES_VALUE else argv[1:]
    return argv


def last_of(path: str) -> str:
    """The last step of a path."""
    return path.rpartition("/")[2]


def _interpreter(executable: str) -> Interpreter | None:
    """What agents' scripts run in; None of any other program."""
    name = last_of(executable)
    return next((one for one in (NODE, PYTHON) if one.name.fullmatch(name)), None)
