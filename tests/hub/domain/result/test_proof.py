"""What counts as evidence for "it is done", and what only looks like it."""

import pytest

from hub.domain.result.proof import Proofs, names, present, wanted

TREE = ["src/parser.py", "README.md", "Makefile", "docs/a b.txt", ".github/workflows/ci.yml"]


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("parser.py has been written.", ("parser.py",)),
        ("Wrote ./src/Parser.py, and README.md.", ("src/parser.py", "readme.md")),
        ("The Makefile is done", ("makefile",)),
        ("src/lib is in place", ("src/lib",)),
        ("It works with Python 3.11, e.g. on Linux, and Node.js", ()),
        ("See https://example.com/x.py", ()),
        ("Everything is done", ()),
    ],
)
def test_the_files_that_a_claim_names(claim, found):
    assert names(claim) == found


def test_a_name_is_looked_for_among_paths_by_its_end_and_whatever_its_case():
    asked = wanted(["parser.py and src/parser.py", "other/parser.py", "readme.md"])
    assert present(asked, TREE) == {"parser.py", "src/parser.py", "readme.md"}
    assert present(frozenset(), TREE) == frozenset()


@pytest.mark.parametrize(
    ("claim", "proofs", "shown"),
    [
        ("parser.py is written", Proofs(), False),
        ("parser.py is written", Proofs(files=frozenset({"parser.py"})), True),
        ("parser.py and lexer.py are written", Proofs(files=frozenset({"parser.py"})), False),
        ("old.py was removed", Proofs(deleted=frozenset({"old.py"})), True),
        ("old.py was fixed", Proofs(deleted=frozenset({"old.py"})), False),
        ("Everything is done", Proofs(files=frozenset({"parser.py"})), False),
        ("Everything is done", Proofs(verified=True), True),
        ("The work is in abcdef0", Proofs(ids=("abcdef0123456789", "")), True),
        ("The work is in abcdef1", Proofs(ids=("abcdef0123456789", "")), False),
    ],
)
def test_a_claim_needs_more_than_a_word(claim, proofs, shown):
    assert proofs.shows(claim) is shown
