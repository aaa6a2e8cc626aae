"""Processes of the user's are ended in order, with all they started, and nobody else is."""

import subprocess

import attrs

from hub.io.processes.control import end, identity_of, with_all_below
from tests.waiting import until


def started(command):
    """A shell of its own group; it has said so when this returns."""
    process = subprocess.Popen(["/bin/sh", "-c", command], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


async def test_it_is_asked_before_it_is_killed():
    with started("trap 'kill $!; exit 7' TERM; sleep 1000 & echo ready; wait") as polite:
        assert await end([identity_of(polite.pid)])
        assert polite.wait() == 7


async def test_what_does_not_listen_is_killed_with_all_below_it():
    with started("trap '' TERM; sleep 1000 & echo ready; while :; do wait; done") as deaf:
        head = identity_of(deaf.pid)
        found = until(lambda: len(tree := with_all_below([head])) == 2 and tree, "the shell's child is there")
        assert found[0] == head
        assert await end(found, grace=0.05)
        assert deaf.wait() == -9
    assert with_all_below([head]) == ()


async def test_a_process_that_only_has_the_number_is_left_alone():
    with started("echo ready; exec sleep 1000") as other:
        stranger = attrs.evolve(identity_of(other.pid), starttime=1)
        assert with_all_below([stranger]) == ()
        assert await end([stranger])
        assert other.poll() is None
        other.kill()
