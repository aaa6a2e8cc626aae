"""What an agent is told at the start of a dispatch: its first message, and what goes with it.

Owns: the words of a first start, of another try, of who goes on with another's work, and those of the user's profile.
Must not: render a contract (`hub.domain.brief` does), or put a word of an agent's into a first message.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from hub.domain.contract import Contract
from hub.domain.result.gate import correction
from hub.domain.session import SessionRecord
from hub.domain.text.quoted import line
from hub.domain.text.safe import clean, clip

MAX_SHORT_GOAL = 2000
_CONTINUE = (
    "You were stopped before the task was finished. Look at what is already done in the working directory, "
    "then continue with what is left. The task was:\n\n"
)


@attrs.frozen
class Orders:
    """What is told."""

    prompt: str
    envelope: str = ""
    """The contract that goes with it; "" = none."""
    resume_id: str = ""
    """The agent's own session that goes on; "" = a fresh one."""


def orders_again(record: SessionRecord, *, resumes: bool) -> Orders:
    """A first start, or another try of the same agent: its own session goes on where it can."""
    resume_id = _own_session(record, resumes=resumes)
    if record.refused:
        return Orders(_corrected(record, record.task, resume_id), resume_id=resume_id)
    return Orders(_CONTINUE + record.task if record.attempt > 1 else record.task, resume_id=resume_id)


def orders_of_adopter(record: SessionRecord, contract: Contract, envelope: str, *, resumes: bool) -> Orders:
    """Who goes on with the work of an agent that hub had not started, or of a session: it is given its contract.

    With a session of its own, too: that may prove not to be resumable, and it was begun in another folder.
    """
    resume_id = _own_session(record, resumes=resumes)
    if record.refused:
        return Orders(_corrected(record, contract.task_goal, resume_id), envelope, resume_id)
    return Orders(
        _CONTINUE + contract.task_goal if resume_id else receiver_prompt(contract), envelope, resume_id
    )


def _own_session(record: SessionRecord, *, resumes: bool) -> str:
    # The agent chose it: one that begins with a dash would be an option of its program.
    return record.native_id if resumes and not record.native_id.startswith("-") else ""


def _corrected(record: SessionRecord, task: str, resume_id: str) -> str:
    """What the acceptance commands refused; who does not remember the task is told it again."""
    refused = correction(record.refused)
    return refused if resume_id else f"{refused}\n\nThe task was:\n\n{task}"


def receiver_prompt(contract: Contract) -> str:
    """The receiver's first message: short, and nothing in it comes from an agent."""
    commands = contract.acceptance_assertions
    done = "Stop when the goal is reached."
    if commands:
        done = f"Stop when the goal is reached; hub then runs: {line('; '.join(commands), MAX_SHORT_GOAL)}"
    return (
        "Continue a task that another agent began; its work is in this directory.\n\n"
        f"The task, in the user's words:\n\n{clip(clean(contract.task_goal), MAX_SHORT_GOAL)}\n\n"
        "Read the continuation brief first: it says what is done, what is left and what not to do again. "
        f"Then go on with what is left. {done}"
    )


def guidance(name: str, hint: str, skills: Sequence[str]) -> str:
    """What every agent of a session is told besides its task, in the user's words; "" where the profile says nothing."""
    parts = [f"Context, from the user's profile {name}:\n\n{hint.strip()}"] if hint.strip() else []
    if skills:
        parts.append(f"Use these skills where you have them: {', '.join(skills)}.")
    return "\n\n".join(parts)
