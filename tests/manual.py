"""The manual pages and `docs/commands.md`, drawn from the commands' own help: `python -m tests.manual docs` writes them.

Owns: the form of a page; `man hub-run` shows `docs/man/hub-run.1`, which an installation brings.
Must not: say anything that `--help` does not.
Tests: tests/test_manual.py
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from hub.cli.group import SECTIONS, cli
from hub.cli.terminal.answering import HELP
from hub.cli.topics import ENVIRONMENT, EXITS

_ABOVE = """# Commands

Drawn from `--help` by `python -m tests.manual docs`: change the help, not this page.

Every command but `mcp` and `acp` takes `--json` and then prints one document on stdout, on errors too:
`{"error": {code, detail, hint, ...}}`. Progress and messages go to stderr. Two options stand before the command:
`--project DIR` (`-C`) and `--port N`. `NO_COLOR`, `CLICOLOR` and `FORCE_COLOR` are honoured. `[SESSION]` is an id or its
beginning; left out, it is the only one that runs. `man hub-run` shows the same text, but where uv has installed hub.
"""
_KEYS = "While `hub run` or `hub attach` shows a session on a terminal:\n"


def pages() -> dict[str, str]:
    """The text of each page, by its file's name: one for hub, one for each of its commands."""
    context = click.Context(cli, info_name="hub", **cli.context_settings)
    found = {"hub.1": "\n".join(_overview(context)) + "\n"}
    for child in _children(context):
        name = f"hub-{child.info_name}"
        found[f"{name}.1"] = "\n".join(_page(child, name)) + "\n"
    return found


def reference() -> str:
    """The text of `docs/commands.md`: the same help, on one page."""
    context = click.Context(cli, info_name="hub", **cli.context_settings)
    children = {child.info_name: child for child in _children(context)}
    lines = [_ABOVE]
    for title, commands in SECTIONS.items():
        lines.append(f"## {title}\n")
        for name in commands:
            lines += _described(children[name])
    lines += ["## Keys\n", _KEYS, *(f"    {line}" for line in HELP), ""]
    lines += ["## Exit statuses\n", "| Status | Meaning |", "|---|---|"]
    lines += [f"| {number} | {words} |" for number, words in EXITS.items()]
    return "\n".join(lines) + "\n"


def _described(context: click.Context) -> Iterator[str]:
    """A command, and those of its group."""
    command = context.command
    told, examples = _paragraphs(command)
    yield f"### `{context.command_path}`\n"
    yield "\n\n".join(told) + "\n"
    yield "    " + " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from (f"    {words}" for words in examples)
    yield ""
    options = [record for record in _records(context) if not {"--json", "--help"} & set(record[0].split())]
    if options:
        yield from ("| Option | What it does |", "|---|---|")
        for names, words in options:
            yield f"| `{_cell(names)}` | {_cell(' '.join(words.split()))} |"
        yield ""
    for child in _children(context):
        yield from _described(child)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _overview(context: click.Context) -> Iterator[str]:
    yield from _page(context, "hub")
    yield ".SH COMMANDS"
    for title, commands in SECTIONS.items():
        yield f".SS {_said(title)}"
        for name, (_, line) in commands.items():
            yield from (".TP", rf"\fBhub\-{_said(name)}\fP(1)", _said(line))
    yield ".SH ENVIRONMENT"
    for names, words in ENVIRONMENT.items():
        yield from (".TP", _said(names), _said(words))
    yield ".SH EXIT STATUS"
    for number, words in EXITS.items():
        yield from (".TP", str(number), _said(words))


def _page(context: click.Context, title: str) -> Iterator[str]:
    command = context.command
    told, examples = _paragraphs(command)
    sentence = command.get_short_help_str(limit=200).rstrip(".")
    yield f'.TH "{title.upper()}" "1" "" "hub" "Manual of hub"'
    yield from (".SH NAME", rf"{_said(title)} \- {_said(sentence)}", ".SH SYNOPSIS", *_usage(context))
    yield ".SH DESCRIPTION"
    for number, words in enumerate(told):
        yield from ((".PP",) if number else ())
        yield _said(words)
    yield from _options(context, ".SH OPTIONS")
    if context.parent is not None:
        for child in _children(context):
            yield from _child(child)
    if examples:
        yield ".SH EXAMPLE"
        for words in examples:
            yield from (".nf", _said(words), ".fi")
    yield ".SH SEE ALSO"
    yield r"\fBhub\fP(1)" if context.parent else r"\fBhub help\fP"


def _paragraphs(command: click.Command) -> tuple[list[str], list[str]]:
    """What a command's help says, and its examples."""
    found = inspect.cleandoc(command.help or "").split("\n\n")
    examples = [words.removeprefix("Example: ") for words in found if words.startswith("Example: ")]
    return [" ".join(words.split()) for words in found if not words.startswith("Example: ")], examples


def _children(context: click.Context) -> Iterator[click.Context]:
    """The commands of a group."""
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            child = context.command.get_command(context, name)
            assert child is not None  # it was listed
            yield click.Context(child, info_name=name, parent=context)


def _child(context: click.Context) -> Iterator[str]:
    """A command of a group: a section of its page."""
    yield f".SH {_said(context.command_path.upper())}"
    yield from _usage(context)
    for words in inspect.cleandoc(context.command.help or "").split("\n\n"):
        yield from (".PP", _said(" ".join(words.split())))
    yield from _options(context, ".PP")


def _usage(context: click.Context) -> tuple[str, str]:
    words = " ".join(context.command.collect_usage_pieces(context))
    return rf"\fB{_said(context.command_path)}\fP", _said(words)


def _options(context: click.Context, before: str) -> Iterator[str]:
    records = _records(context)
    if records:
        yield before
    for names, words in records:
        yield from (".TP", rf"\fB{_said(names)}\fP", _said(" ".join(words.split())))


def _records(context: click.Context) -> list[tuple[str, str]]:
    return [
        record
        for param in context.command.get_params(context)
        if isinstance(param, click.Option) and (record := param.get_help_record(context))
    ]


def _said(text: str) -> str:
    """As roff shows it as it stands: no letter of it is a request or an escape."""
    plain = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", plain)


if __name__ == "__main__":
    Path(sys.argv[1], "commands.md").write_text(reference())
    for file, text in pages().items():
        Path(sys.argv[1], "man", file).write_text(text)
