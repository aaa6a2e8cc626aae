"""OTP-style supervision on Trio: actors with bounded mailboxes, in a tree that restarts what fails.

Owns: the public names of the package. Must not: import anything but trio, attrs and outcome.

An actor answers messages in one `match`. It is addressed through a slot, which outlives its incarnations. A supervisor
starts its children in order, stops them in reverse, and restarts the ones that fail:

    import attrs
    import trio
    from supervisors import Actor, ActorDied, Answer, Call, Cast, MailboxSpec, Overflow, Slot
    from supervisors import SupervisorSpec, actor_spec, run_root

    @attrs.frozen
    class Add(Call[int]):  # answered with the total
        number: int

    class Clear(Cast):
        pass

    class Fail(Call[None]):
        pass

    class Counter(Actor[Add | Clear | Fail]):
        answers = (ValueError,)  # told to the caller; any other error ends the incarnation

        async def started(self) -> None:
            self.total = 0

        async def handle(self, message: Add | Clear | Fail) -> Answer:
            match message:
                case Add(number=number) if number < 0:
                    raise ValueError(number)
                case Add(number=number):
                    self.total += number
                    return message.answer(self.total)
                case Clear():
                    self.total = 0
                    return message.handled()
                case Fail():
                    raise RuntimeError("a bug")

    async def main() -> None:
        counter: Slot[Add | Clear | Fail] = Slot("counter", MailboxSpec(8, Overflow.BLOCK))
        spec = SupervisorSpec(children=[actor_spec("counter", Counter, counter)])
        async with trio.open_nursery() as nursery:
            root = await nursery.start(run_root, spec)
            ref = counter.ref

            await ref.cast(Clear())  # returns as soon as there is room
            total = await ref.call(Add(42), timeout=1)  # waits for the answer; an int, says the type checker
            assert total == 42

            try:
                await ref.call(Add(-1), timeout=1)
            except ValueError:
                pass  # an answer: nothing was restarted

            try:
                await ref.call(Fail(), timeout=1)
            except ActorDied as death:  # at once, not by the timeout
                assert str(death) == "counter died: a bug"

            await ref.wait_alive(timeout=1)  # the same ref leads to the next incarnation
            assert await ref.call(Add(1), timeout=1) == 1
            assert root.tree().find("counter").generation == 2
            await root.stop()

    trio.run(main)

Where to look: `spec` (what can be said), `plan` (the rules, pure), `supervisor` and `dynamic` (carrying them out), `actor`,
`ref` and `mailbox` (messages), `root` (running a tree). The rules, the departures from OTP and the tests that hold them:
design/supervision.md.

Not for: a value that a function can compute (call it), a task that ends with its caller (use a nursery), anything whose
failure should end the program.
"""

from supervisors.actor import Actor, ActorContext, actor_spec
from supervisors.backoff import Backoff
from supervisors.call import Answer, Call, Cast, Sent
from supervisors.child import ChildState
from supervisors.dynamic import DynamicSupervisor, dynamic_spec
from supervisors.events import EventKind, SupEvent, System
from supervisors.exits import Exit, ExitKind, Ignore, IntensityReached, Shutdown, StartFailed, StartTimeout
from supervisors.handle import AdminCode, AdminError, ChildInfo, Counts, DynamicHandle, SupervisorHandle
from supervisors.life import Life
from supervisors.mailbox import MailboxFull, MailboxSpec, Overflow
from supervisors.monitor import Down, Monitor
from supervisors.ref import ActorDied, CallCycle, NameTaken, Ref, Registry, Slot, SlotInUse
from supervisors.root import Root, run_root
from supervisors.spec import (
    BRUTAL_KILL,
    AutoShutdown,
    ChildSpec,
    Kind,
    Restart,
    SpecError,
    Strategy,
    SupervisorSpec,
)
from supervisors.supervisor import Supervisor, supervisor_spec
from supervisors.tree import NodeInfo
