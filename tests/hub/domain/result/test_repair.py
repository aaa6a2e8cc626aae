"""What an agent is told whose work was refused: the commands, how they ended, and no more output than is agreed."""

from hypothesis import given
from hypothesis import strategies as st

from hub.domain.result.acceptance import MOST_OUTPUT, Refused, correction


def test_the_end_of_each_output_is_told():
    text = correction([Refused("make test", "exit 2", "one\ntwo\n"), Refused("lint", "signal 9", " \n")])
    assert "$ make test\n(exit 2)\none\ntwo" in text
    assert text.endswith("$ lint\n(signal 9)\nIt ended with no output.")


def test_of_a_long_output_whole_lines_from_its_end():
    text = correction([Refused("x", "exit 1", "".join(f"line {n}\n" for n in range(5000)))])
    shown = text.partition("(exit 1)\n")[2]
    assert shown.endswith("line 4999")
    assert shown.startswith("line ")
    assert len(shown) <= MOST_OUTPUT
    assert (
        len(correction([Refused("x", "exit 1", "é" * 9000)]).partition("(exit 1)\n")[2].encode())
        <= MOST_OUTPUT
    )


@given(st.lists(st.text(max_size=6000), max_size=8))
def test_all_together_stay_within_the_bound(outputs):
    """However many commands failed, and whatever they printed."""
    base = correction([Refused("x", "exit 1", "y") for _ in outputs])
    text = correction([Refused("x", "exit 1", output) for output in outputs])
    assert len(text.encode()) <= len(base.encode()) + MOST_OUTPUT + 64 * len(outputs)
    assert "\x1b" not in text
