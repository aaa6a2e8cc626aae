"""The manual pages and the page of commands are those of these commands."""

import re

from hub.cli.group import COMMANDS
from tests.hub.cli.command import ROOT
from tests.hub.cli.test_group import ALL
from tests.manual import pages, reference

FOLDER = ROOT / "docs/man"


def test_the_pages_are_drawn_from_the_commands():
    """`python -m tests.manual docs` draws them anew."""
    assert {path.name: path.read_text() for path in FOLDER.iterdir()} == pages()


def test_the_page_of_commands_is_drawn_from_them():
    """Each with every option of its own; `python -m tests.manual docs` draws it anew."""
    page = (ROOT / "docs/commands.md").read_text()
    assert page == reference()
    for words in ALL:
        told = page.partition(f"### `hub {' '.join(words)}`\n")[2].partition("\n### ")[0]
        assert f"    hub {' '.join(words)}" in told
    assert "| `--on-limit [handoff\\|wait\\|stop]` |" in page


def test_every_command_has_a_page_with_all_its_options():
    assert set(pages()) == {"hub.1", *(f"hub-{name}.1" for name in COMMANDS)}
    page = pages()["hub-run.1"].replace("\\-", "-")
    assert re.search(r"^\\fB-d, --detach\\fP$", page, re.MULTILINE)
    assert "hub run --verify" in page.partition(".SH EXAMPLE")[2]
    assert ".SH HUB ACCOUNT SWITCH" in pages()["hub-account.1"]


def test_no_word_of_a_page_is_taken_for_a_request():
    """What begins with a dot or has a backslash in it is text all the same."""
    requests = {".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi"}
    for name, page in pages().items():
        for line in page.splitlines():
            assert not line.startswith((".", "'")) or line.split()[0] in requests, (name, line)
            assert set(re.findall(r"\\(.)", line)) <= {"f", "-", "e", "&"}, (name, line)
