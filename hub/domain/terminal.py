"""Terminals: which are tried, in which order, and the script that runs in one.

Owns: the table of terminals, the text of the script, and what a person types instead; which one obeys control sequences.
Must not: open a terminal, or put a value into a shell's text without quoting it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

import attrs

_DESKTOP = (
    ("x-terminal-emulator", "-e"),
    ("gnome-terminal", "--"),
    ("ptyxis", "--"),
    ("kgx", "--"),
    ("konsole", "-e"),
    ("xfce4-terminal", "-x"),
    ("kitty",),
    ("alacritty", "-e"),
    ("ghostty", "-e"),
    ("wezterm", "start", "--"),
    ("foot",),
    ("xterm", "-e"),
)
"""The usual ones of a Linux desktop: the user's choice first (Debian's alternative), then by popularity."""


@attrs.frozen
class TerminalCommand:
    """A program to run for the user to see: argv, and what its environment has beside the user's own."""

    argv: Sequence[str]
    env: Mapping[str, str] = attrs.field(factory=dict)
    cwd: str = ""
    """Where it runs; "" = wherever the terminal is opened."""

    def __attrs_post_init__(self) -> None:
        words = [*self.argv, *self.env, *self.env.values(), self.cwd]
        if any(char in word for word in words for char in "\0\n\r"):
            raise ValueError("a word of a command has a line break or NUL in it")

    def text(self) -> str:
        """What a person types: `CODEX_HOME=/x codex login`."""
        sets = [f"{name}={shlex.quote(value)}" for name, value in self.env.items()]
        place = [f"cd {shlex.quote(self.cwd)} &&"] if self.cwd else []
        return " ".join([*place, *sets, shlex.join(self.argv)])


def openers(configured: Sequence[str], environ: Mapping[str, str], platform: str) -> Iterator[Sequence[str]]:
    """Argument lists to which a program and its arguments are appended, in the order in which they are tried.

    Args:
        configured: `[terminal] command`; when there is one nothing else is tried.
        environ: The daemon's environment.
        platform: `sys.platform`.
    """
    if configured:
        yield tuple(configured)
        return
    if own := _words(environ.get("TERMINAL", "")):
        yield (*own, "-e") if len(own) == 1 else own
    if environ.get("TMUX"):
        yield ("tmux", "new-window")
    if platform == "darwin":
        yield ("open", "-a", "Terminal")
    elif environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"):
        yield from _DESKTOP


def supports_ansi(environ: Mapping[str, str]) -> bool:
    """Whether the terminal that `environ` names takes control sequences for what they are; another one shows them."""
    return environ.get("TERM", "") not in ("", "dumb", "unknown")


def script(command: TerminalCommand, folder: str, *, keep: bool) -> str:
    """A script that shows the command, runs it, and leaves its exit status in `folder/status`.

    A closed terminal ends the script without a word (a shell's trap would wait for the command, which hears of the end
    only when the shell is gone), so its process id stands in `folder/pid`.

    Args:
        command: What to run.
        folder: Where `status` is put, and `output` when it is kept.
        keep: Whether what the command prints is kept in `output` too; it then has no terminal of its own.
    """
    exports = "\n".join(f"export {name}={shlex.quote(value)}" for name, value in command.env.items())
    run_in = f"cd {shlex.quote(command.cwd)} && " if command.cwd else ""
    run = _KEPT if keep else "run\ncode=$?"
    return _SCRIPT.format(
        folder=shlex.quote(folder),
        exports=exports,
        shown=shlex.quote(f"$ {command.text()}"),
        argv=run_in + shlex.join(command.argv),
        run=run,
    )


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return ()


_KEPT = """{ run; echo "$?" > "$folder/code"; } 2>&1 | tee "$folder/output"
code=$(cat "$folder/code")"""

_SCRIPT = """\
#!/bin/sh
# Made by hub for one command; see `hub logs`.
folder={folder}
report() {{ echo "$1" > "$folder/status.new" && mv "$folder/status.new" "$folder/status"; }} 2> /dev/null
run() {{ {argv}; }}
trap : INT
echo "$$" > "$folder/pid"
{exports}
printf '%s\\n' {shown}
{run}
report "$code"
if [ "$code" -eq 0 ]; then echo "Done."; else echo "It ended with status $code."; fi
printf 'Press Enter to close. '
read -r _
exit "$code"
"""
