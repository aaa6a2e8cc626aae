"""Who gives way: the oldest for whom nothing is done, and never another user's for one's own."""

from __future__ import annotations

import attrs
import pytest

from hub.web import crowd as module
from hub.web.crowd import Crowd


@attrs.define(eq=False)
class Link:
    foreign: bool = False
    waits: bool = True
    served: bool = False
    gone: bool = False

    def leave(self) -> None:
        self.gone = True


@pytest.fixture
def crowd(monkeypatch: pytest.MonkeyPatch) -> Crowd[Link]:
    monkeypatch.setattr(module, "MAX_CONNECTIONS", 3)
    monkeypatch.setattr(module, "MAX_OTHERS", 1)
    return Crowd()


def test_the_oldest_that_was_never_served_gives_way_first(crowd: Crowd[Link]):
    served, works, old, new = Link(served=True), Link(waits=False), Link(), Link()
    assert all(map(crowd.admit, (served, works, old, new)))
    assert [link.gone for link in (served, works, old, new)] == [False, False, True, False]
    assert list(crowd) == [served, works, new]
    new.waits = False
    assert crowd.admit(Link(waits=False))
    assert served.gone
    assert not crowd.admit(Link()), "for all others something is done"
    assert len(crowd) == 3


def test_another_users_have_places_of_their_own(crowd: Crowd[Link]):
    own = [Link(), Link(), Link()]
    others = [Link(foreign=True), Link(foreign=True)]
    assert all(map(crowd.admit, (*own, *others)))
    assert [link.gone for link in (*own, *others)] == [False] * 3 + [True, False]
    assert crowd.relieve()
    assert others[1].gone, "theirs first"
    assert crowd.relieve()
    assert own[0].gone
    for link in own:
        crowd.left(link)
    assert not crowd.relieve()


def test_whoever_was_served_may_be_left_alone(crowd: Crowd[Link]):
    served, other = Link(served=True), Link(foreign=True, served=True)
    assert all(map(crowd.admit, (served, other)))
    assert not crowd.relieve(served=False)
    assert crowd.admit(new := Link())
    assert crowd.relieve(served=False)
    assert [link.gone for link in (served, other, new)] == [False, False, True]
