"""A call's answer has the type that its message promises, and a ref takes its inbox only.

The type checker reads this file too: what it must refuse is marked, and a mark that is not needed is an error.
"""

from __future__ import annotations

from typing import assert_type

import attrs
import pytest
import trio

from supervisors import Actor, ActorDied, Answer, Call, Cast, Ref, Slot, SupervisorSpec, actor_spec, run_root
from supervisors.call import NOTHING
from tests.trees import ROOMY, running


@attrs.frozen
class Length(Call[int]):
    """Answers the length of a text."""

    text: str


@attrs.frozen
class Halves(Call[tuple[str, str]]):
    """Answers the two halves of a text."""

    text: str


class Texts(Actor[Length | Halves]):
    """Answers both."""

    async def handle(self, message: Length | Halves) -> Answer:
        match message:
            case Length(text=text):
                return message.answer(len(text))
            case Halves(text=text):
                return message.answer((text[: len(text) // 2], text[len(text) // 2 :]))


async def test_each_message_says_what_its_answer_is() -> None:
    """`assert_type` is for the type checker: it refuses this file where the answer would be of another type."""
    slot: Slot[Length | Halves] = Slot("texts", ROOMY)
    spec = SupervisorSpec(children=[actor_spec("texts", Texts, slot)])
    async with trio.open_nursery() as nursery:
        root = await nursery.start(run_root, spec)
        length = await slot.ref.call(Length("four"), timeout=1)
        halves = await slot.ref.call(Halves("four"), timeout=1)
        assert_type(length, int)
        assert_type(halves, tuple[str, str])
        await root.stop()
    assert (length, halves) == (4, ("fo", "ur"))


async def test_a_ref_takes_the_messages_of_its_inbox_alone() -> None:
    slot: Slot[Length] = Slot("lengths", ROOMY)
    some: Ref[Length] = slot.ref
    wide: Ref[Length | Halves] = some  # type: ignore[assignment]  # it would take what its actor does not
    assert not some.try_cast(Halves("ab"))  # type: ignore[arg-type]
    with pytest.raises(ActorDied):
        await wide.call(Halves("ab"))
    with pytest.raises(ActorDied):
        await some.call(Halves("ab"))  # type: ignore[arg-type]


class Front(Actor[Length | Halves]):
    """Has another one answer."""

    def __init__(self, to: Ref[Length | Halves]) -> None:
        self.to = to

    async def handle(self, message: Length | Halves) -> Answer:
        async def whom() -> Ref[Length | Halves]:
            return self.to

        return self.forward(message, whom())


async def test_a_call_that_is_forwarded_is_answered_with_what_the_other_one_answers() -> None:
    front: Slot[Length | Halves] = Slot("front", ROOMY)
    texts: Slot[Length | Halves] = Slot("texts", ROOMY)
    children = [
        actor_spec("texts", Texts, texts),
        actor_spec("front", lambda: Front(texts.ref), front),
    ]
    async with running(SupervisorSpec(children=children)):
        assert await front.ref.call(Length("four")) == 4
        assert await front.ref.call(Halves("four")) == ("fo", "ur")


class Say(Call[str | None]):
    """May be answered with None."""


class Forgetful(Actor[Say | Length]):
    """Forgets to answer."""

    async def handle(self, message: Say | Length) -> Answer:
        return message.answer(None) if isinstance(message, Say) else None  # type: ignore[return-value]


async def test_none_is_an_answer_and_no_answer_is_an_error_of_the_actor() -> None:
    slot: Slot[Say | Length] = Slot("forgetful", ROOMY)
    async with running(SupervisorSpec(children=[actor_spec("forgetful", Forgetful, slot)])):
        assert await slot.ref.call(Say()) is None
        with pytest.raises(ActorDied, match="Length was left without an answer"):
            await slot.ref.call(Length("four"))
        await slot.ref.wait_alive(1)


class Note(Cast):
    """Is told, not asked."""


class Deaf(Actor[Length | Note]):
    """Takes a call for a cast."""

    async def handle(self, message: Length | Note) -> Answer:
        return message.handled()  # type: ignore[union-attr]


async def test_a_cast_is_handled_and_only_a_cast() -> None:
    assert await Deaf().handle(Note()) is NOTHING
    with pytest.raises(AttributeError):
        await Deaf().handle(Length("four"))


def test_a_message_is_answered_with_what_it_promises() -> None:
    assert Length("four").answer(4) == Answer(4)
    assert Length("four").answer("4") == Answer("4")  # type: ignore[arg-type]


class Wrong(Actor[Length | Halves]):
    """Answers as no `handle` may; the marks are what is tested."""

    async def handle(self, message: Length | Halves) -> Answer:
        match message:
            case Length(text=text) if not text:
                return 0  # type: ignore[return-value]  # made by nobody's promise
            case Length(text=text):
                return self.answer_later(message, trio.to_thread.run_sync(text.upper))  # type: ignore[misc]
            case Halves(text=text):
                return message.answer(text)  # type: ignore[arg-type]


async def test_what_a_handler_answers_is_what_its_message_promises() -> None:
    """Said by the type checker alone: nothing is compared while a message is handled."""
    assert await Wrong().handle(Halves("four")) == Answer("four")


def test_a_message_is_no_bigger_for_it() -> None:
    assert not hasattr(Length("a"), "__dict__")
