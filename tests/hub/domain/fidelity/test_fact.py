"""A fact as a value: one that is told again leaves those that were handed out as they were."""

from hub.domain.fidelity.fact import Facet, Fact, Facts, code, norm, status


def test_a_fact_that_is_told_again_leaves_the_earlier_one_as_it_was():
    first = Fact((3,), 1)
    second = first.again(5, 2, gold=False)
    branch = first.again(7, 4)
    third = second.again(9, 5)
    assert [sorted(f.sources) for f in (first, second, branch, third)] == [[3], [3, 5], [3, 7], [3, 5, 9]]
    assert [(f.rank, f.references, f.gold) for f in (first, second, third)] == [
        (1, 1, True),
        (2, 2, True),
        (5, 3, True),
    ]
    assert first != branch
    assert first == Fact((3,), 1)
    assert not Fact((1,), 1, gold=False).again(2, 2, gold=False).gold


def test_facts_support_a_claim_where_it_was_told():
    key, other = (Facet.DECISIONS, "a"), (Facet.NEXT, "b")
    facts = Facts({key: Fact((3,), 2, references=20), other: Fact((4,), 1, gold=False)}, 9)
    assert (facts.supports(key, None), facts.supports(key, 3), facts.supports(key, 4)) == (True, True, False)
    assert not facts.supports((Facet.NEXT, "a"), None)
    assert facts.gold(Facet.DECISIONS) == [key]
    assert facts.gold(Facet.NEXT) == []
    assert facts.weight(key) == (9 + 1 + 2) * 8


def test_words_of_facts():
    assert norm(" A  b\n") == "a b"
    assert (status("Make", None), status("make", 2)) == ("make -> unknown", "make -> 2")
    assert code("a.py", "X  y") == "code a.py x y"
