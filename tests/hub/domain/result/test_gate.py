"""What an agent is told whose work was refused: the commands, how they ended, and no more output than is agreed."""

import attrs
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.contract import Evidence, EvidenceKind
from hub.domain.result.gate import MOST_OUTPUT, Check, GateResult, correction


def refused(command, how, output):
    return Check(command, 2, output, 10, timed_out=False, how=how)


def told(checks):
    return correction(GateResult(tuple(checks), "tree").text())


PASSED = Check("lint", 0, "fine", 10, timed_out=False, how="exit 0", source=7)
FAILED = attrs.evolve(refused("make test", "exit 2", "broken"), source=8)


def test_all_have_to_pass_and_what_failed_is_told_with_its_output():
    both = GateResult((PASSED, FAILED), "tree")
    assert (both.passed, both.failed) == (False, (FAILED,))
    assert GateResult((PASSED,), "tree").passed
    assert both.text() == "$ make test\n(exit 2)\nbroken"
    assert both.evidence() == (
        Evidence(EvidenceKind.VERIFY, "lint", 7, 0, ""),
        Evidence(EvidenceKind.VERIFY, "make test", 8, 2, "broken"),
    )


def test_the_end_of_each_output_is_told():
    text = told([refused("make test", "exit 2", "one\ntwo\n"), refused("lint", "signal 9", " \n")])
    assert "$ make test\n(exit 2)\none\ntwo" in text
    assert text.endswith("$ lint\n(signal 9)\nIt ended with no output.")


def test_of_a_long_output_whole_lines_from_its_end():
    text = told([refused("x", "exit 1", "".join(f"line {n}\n" for n in range(5000)))])
    shown = text.partition("(exit 1)\n")[2]
    assert shown.endswith("line 4999")
    assert shown.startswith("line ")
    assert len(shown) <= MOST_OUTPUT
    assert len(told([refused("x", "exit 1", "é" * 9000)]).partition("(exit 1)\n")[2].encode()) <= MOST_OUTPUT


@given(st.lists(st.text(max_size=6000), max_size=8))
def test_all_together_stay_within_the_bound(outputs):
    """However many commands failed, and whatever they printed."""
    base = told([refused("x", "exit 1", "y") for _ in outputs])
    text = told([refused("x", "exit 1", output) for output in outputs])
    assert len(text.encode()) <= len(base.encode()) + MOST_OUTPUT + 64 * len(outputs)
    assert "\x1b" not in text
