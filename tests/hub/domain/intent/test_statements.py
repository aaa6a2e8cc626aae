"""Statements in prose: explicit ones are found, lookalikes are not."""

import re
import time
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.domain.intent import statements as module
from hub.domain.intent.statements import MAX_STATEMENT, Statement, StatementKind, statements
from hub.domain.text.typography import typed


def found(text: str, *, by_user: bool = False) -> list[tuple[StatementKind, str]]:
    return [(s.kind, s.text) for s in statements(text, by_user=by_user)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Decision: use sqlite", StatementKind.DECISION),
        ("- **Decision:** use sqlite", StatementKind.DECISION),
        ("I have looked at both. Decision: use sqlite", StatementKind.DECISION),
        ("2. Design decision: use sqlite", StatementKind.DECISION),
        ("I'll use sqlite because it is there.", StatementKind.DECISION),
        ("I\u2019m going to keep the old name so that callers still work.", StatementKind.DECISION),
        ("We will stick with threads rather than asyncio.", StatementKind.DECISION),
        ("I've decided to drop the cache.", StatementKind.DECISION),
        ("We settled on the second form.", StatementKind.DECISION),
        ("I'd rather copy eight lines than add a library.", StatementKind.DECISION),
        ("We would prefer the queue over the table.", StatementKind.DECISION),
        ("We're going with one queue for each tenant.", StatementKind.DECISION),
        ("I looked into asyncio but stayed with threads.", StatementKind.DECISION),
        ("We've ruled out a second table.", StatementKind.DECISION),
        ("Let's keep the old flag, since scripts pass it.", StatementKind.DECISION),
        ("Please keep the seed fixed.", StatementKind.CONSTRAINT),
        ("Don't rename the column.", StatementKind.CONSTRAINT),
        ("So never import it at the top.", StatementKind.CONSTRAINT),
        ("Constraint: no new dependency", StatementKind.CONSTRAINT),
        ("The schema must not change.", StatementKind.CONSTRAINT),
        ("Old files must keep working.", StatementKind.CONSTRAINT),
        ("Only read errors may be retried.", StatementKind.CONSTRAINT),
        ("Already done: the migration", StatementKind.DO_NOT_REDO),
        ("- [x] Done: the migration", StatementKind.DO_NOT_REDO),
        ("The table has been already renamed... no: it is already renamed.", StatementKind.DO_NOT_REDO),
        ("Do not re-run the migration.", StatementKind.DO_NOT_REDO),
        ("No need to redo the index.", StatementKind.DO_NOT_REDO),
        ("Next step: write the test", StatementKind.NEXT),
        ("Next, I fix the import.", StatementKind.NEXT),
        ("Now let me run the tests.", StatementKind.NEXT),
        ("The next step is to write the docs.", StatementKind.NEXT),
        ("What is left is the changelog.", StatementKind.NEXT),
        ("What remains is the changelog.", StatementKind.NEXT),
        ("I still need to update the changelog.", StatementKind.NEXT),
        ("Remaining: the changelog", StatementKind.NEXT),
        ("Next up: the changelog", StatementKind.NEXT),
    ],
)
def test_explicit_wording_is_found(text, kind):
    assert kind in [k for k, _ in found(text)]


@pytest.mark.parametrize(
    "text",
    [
        "I'll use grep.",
        "I tried the tests and they pass.",
        "Let's keep going.",
        "We are going to the next step.",
        "The list has to be sorted first.",
        "Please wait.",
        "I never use it.",
        "Don't forget the coffee.",
        "I would rather not.",
        "It must be the cache.",
        "There may be only one.",
        "Let me look at the decision table.",
        "I don't see the file.",
        "Do not worry.",
        "Should we use sqlite because it is there?",
        "Must we not change the schema?",
        "> Decision: quoted from elsewhere",
        "| Decision | value |",
        "# Next: a heading",
        "```\nDecision: in code\nmust not be found\n```",
        "~~~python\n# The schema must not change.\n~~~",
        "Note: the schema is old",
        "http://example.com/next: x",
        "",
    ],
)
def test_lookalikes_are_passed_over(text):
    assert found(text) == []


def test_prose_after_a_code_block_is_read_again():
    assert found("```\ncode\n```\nDecision: x") == [(StatementKind.DECISION, "x")]


def test_from_the_user_plain_prohibitions_are_constraints():
    said = "Do not touch the API. Never push. It must be fast. I don't know the rest."
    assert found(said, by_user=True) == [
        (StatementKind.CONSTRAINT, "Do not touch the API."),
        (StatementKind.CONSTRAINT, "Never push."),
        (StatementKind.CONSTRAINT, "It must be fast."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Keep the wire format.",
        "It needs to run on Windows too.",
        "Make sure that old links work.",
        "Also, leave the lock file alone.",
        "At most one request a second.",
        "Please ask before you delete anything.",
        "The page should not reload.",
        "There is room for no new setting.",
    ],
)
def test_from_the_user_what_asks_for_care_is_a_constraint(text):
    assert found(text, by_user=True) == [(StatementKind.CONSTRAINT, text)]
    assert found("The button should open the menu.", by_user=True) == []


def test_each_sentence_counts_once_under_its_first_kind():
    assert found("Do not redo the index, it must not change. I chose to wait.") == [
        (StatementKind.DO_NOT_REDO, "Do not redo the index, it must not change."),
        (StatementKind.DECISION, "I chose to wait."),
    ]


def test_a_long_statement_is_cut():
    (only,) = statements("Decision: " + "x" * 5000)
    assert only == Statement(StatementKind.DECISION, "x" * MAX_STATEMENT)


_SAYINGS = """
I we I'll we're I've i'd let's don't Do not no need to never is already done re-run redo must mustn't may only please avoid
keep leave make sure should shouldn't not stay at most at least no new use have to decided on going with considered but
dropped because next now let me what's left remains missing the my step is still , . ; - x_y and also ensure stick all that
what remains will would rather than
"""
_SAID = st.lists(st.sampled_from(_SAYINGS.split()), min_size=1, max_size=12)


_BEGUN = """
do not redo it|don't repeat it|no need to rerun it|never retry it|it is already done|they are already done|it was already done
they were already done|it has been already done|they have been already done|I will use it because it is small|we chose to wait
let's use it because it is small|it must not change|it mustn't change|you may not touch it|do not touch it|don't touch it
never touch it|please avoid it|please wait|avoid it|only the tests may change|it has to stay|they have to stay|it needs to stay
they need to stay|it should stay|it shouldn't go|at most two|no new file|but keep it|and keep it|also keep it|keep it|leave it
make sure it stays|ensure it stays|stay here|stick to it|use only it|next I look|now I look|let me now look|I will now look
we will now look|the next step is it|my next step is it|all that is left|what is left|that is left
"""


class _Anything:
    """Has whatever it is asked for."""

    def __contains__(self, _):
        return True


def anywhere(text: str, *, by_user: bool) -> list[tuple[StatementKind, str]]:
    """The same with every pattern tried at each letter."""
    statements.cache_clear()
    every = [(kind, _Anything(), pattern) for kind, _, pattern in module._PATTERNS]
    with (
        patch.object(module, "_matches", lambda pattern, sentence, _: pattern.search(sentence)),
        patch.object(module, "_PATTERNS", every),
        patch.object(module, "_WORD", re.compile("")),
    ):
        return found(text, by_user=by_user)


@given(_SAID.map(" ".join), st.booleans())
@settings(max_examples=500)
def test_where_no_word_stands_that_a_pattern_begins_with_it_would_not_have_matched(text, by_user):
    quick = found(text, by_user=by_user)
    assert anywhere(text, by_user=by_user) == quick
    statements.cache_clear()


@pytest.mark.parametrize("text", [one for line in _BEGUN.strip().splitlines() for one in line.split("|")])
def test_a_pattern_is_tried_at_each_word_with_which_it_may_begin(text):
    quick = found(text, by_user=True)
    assert quick
    assert anywhere(text, by_user=True) == quick
    statements.cache_clear()


@given(st.text(max_size=300), st.booleans())
@settings(max_examples=100)
def test_what_is_found_is_quoted_from_the_text(text, by_user):
    plain = typed(text).replace("**", "").replace("__", "").replace("`", "")
    for statement in statements(text, by_user=by_user):
        assert statement.text in plain


@pytest.mark.parametrize(
    "unit", ["a", "I will use ", "must ", "- ", "x: ", "I'll use a because ", "is already ", "`"]
)
def test_no_text_makes_it_slow(unit):
    """Linear: ten times the text of one line costs no more than the cap allows; no pattern backtracks for ever."""
    started = time.process_time()
    list(statements(unit * 100_000))
    assert time.process_time() - started < 2
