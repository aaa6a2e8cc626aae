"""What every group of commands has in common.

Owns: how its commands are listed, and what a slip of the fingers is told.
Must not: import a command.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType

import click

_NARROW, _SHORT = 60, 12
"""Columns below which names have no column of their own, but for short ones."""
_WHOLE = 200
"""Letters of a command's first sentence: more than any has."""


class Formatter(click.HelpFormatter):
    """On a narrow terminal what a long name means stands below it, not in a column of three words."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """A list of names and sentences."""
        super().write_dl(rows, col_max if self.width >= _NARROW else _SHORT, col_spacing)


class CommandContext(click.Context):
    """Of every command: its help is written so, and a slip in its words leads there."""

    formatter_class = Formatter

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Click's parser does not say of every slip whose it is."""
        if isinstance(error, click.UsageError) and error.ctx is None:
            error.ctx = self
        return super().__exit__(kind, error, trace)


class Group(click.Group):
    """Lists its commands with their whole first sentence, and tells a wrong name the one it is near to."""

    context_class = CommandContext

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that was asked for."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], self.list_commands(ctx), 1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from error
        if command is not None:
            command.context_class = CommandContext
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list for --help; click's own cuts the sentences to one line."""
        with formatter.section("Commands"):
            formatter.write_dl(self.sentences(ctx))

    def sentences(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Each command with its first sentence."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        return [(name, command.get_short_help_str(_WHOLE)) for name, command in found if command is not None]
