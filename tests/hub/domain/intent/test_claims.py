"""Which sentences say that something is done."""

import pytest

from hub.domain.contract import Evidence, EvidenceKind, Sourced
from hub.domain.intent.claims import MAX_CLAIMS, claimed, claims_of


@pytest.mark.parametrize(
    "sentence",
    [
        "parser.py has been written.",
        "Everything is done.",
        "All tests pass now.",
        "I've added the parser.",
        "We have now fixed both.",
        "I implemented the lexer.",
        "- **The bug** is fixed.",
        "The old table was dropped, and the new one is in place.",
        "Implemented the cache in cache.py.",
        "- ✅ Added a section on deployment",
        "Successfully refactored utils.ts, and lint is clean.",
        "The migration has been applied.",
        "The build succeeds.",
        "Done! Everything works as requested.",
    ],
)
def test_a_claim(sentence):
    assert len(list(claimed(sentence))) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "The tests do not pass.",
        "It is not done yet.",
        "I will have it done.",
        "Once the parser is written, I test it.",
        "Is it done?",
        "Step 1 is done.",
        "> It is done.",
        "# All is done",
        "```\nIt is done.\n```",
        "I look at the parser.",
        "- [ ] Added tests",
        "Fixed by the change of yesterday: the reader.",
        "Implemented in another branch, I think.",
        "",
    ],
)
def test_no_claim(sentence):
    assert list(claimed(sentence)) == []


def test_the_newest_claims_of_quoted_turns_with_their_events():
    turns = [Evidence(EvidenceKind.TURN, f"Part {n} is done. And on.", n) for n in range(1, 20)]
    found = claims_of([*turns, Evidence(EvidenceKind.COMMAND, "It is done.", 50)])
    assert found[-1] == Sourced("Part 19 is done.", 19)
    assert len(found) == MAX_CLAIMS
