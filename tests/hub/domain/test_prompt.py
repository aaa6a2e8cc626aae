"""The first message of an agent: the user's words and hub's own, whoever has worked before."""

from __future__ import annotations

import attrs
import pytest

from hub.domain.contract import Contract
from hub.domain.prompt import Orders, guidance, orders_again, orders_of_adopter, receiver_prompt
from hub.domain.result.gate import correction
from hub.domain.session import SessionRecord

RECORD = SessionRecord(task="write the files", attempt=1, native_id="n-1")
CONTRACT = Contract(
    contract_id="c-1",
    session_id="s-1",
    task_id="t-1",
    task_goal="Fix the parser\n\nKeep the API.",
    snapshot_commit_sha="0123456789abcdef0123456789abcdef01234567",
    acceptance_assertions=("make test", "ruff check"),
)


def contract_of(**changes) -> Contract:
    return attrs.evolve(CONTRACT, **changes)


def test_the_receivers_prompt_holds_nothing_an_agent_said():
    prompt = receiver_prompt(
        contract_of(next_action="INJECTED", plan=("INJECTED",), do_not_redo=("INJECTED",))
    )
    assert "INJECTED" not in prompt
    assert "Fix the parser\n\nKeep the API." in prompt
    assert prompt.endswith("hub then runs: make test; ruff check")


def test_the_receivers_prompt_stays_short_and_works_without_acceptance_commands():
    prompt = receiver_prompt(contract_of(task_goal="y" * 100_000, acceptance_assertions=()))
    assert len(prompt) < 3000
    assert prompt.endswith("Stop when the goal is reached.")


def test_what_a_profile_tells_every_agent():
    assert guidance("p", "", ()) == ""
    assert guidance("p", " \n", ()) == ""
    assert guidance("p", "Be brief.\n", ()) == "Context, from the user's profile p:\n\nBe brief."
    assert guidance("p", "", ("a", "b")) == "Use these skills where you have them: a, b."
    assert guidance("p", "Be brief.", ("a",)).endswith(
        "Be brief.\n\nUse these skills where you have them: a."
    )


def test_another_try_is_told_that_it_was_stopped():
    assert orders_again(RECORD, resumes=True) == Orders("write the files", resume_id="n-1")
    again = orders_again(attrs.evolve(RECORD, attempt=2), resumes=False)
    assert again.prompt.startswith("You were stopped before the task was finished.")
    assert again.prompt.endswith("write the files")
    assert again.resume_id == ""


@pytest.mark.parametrize("native_id", ["", "-c", "--dangerously-bypass-approvals-and-sandbox"])
def test_a_session_id_that_is_an_option_is_not_gone_on_with(native_id):
    """The agent chooses it, and it becomes an argument of the agent's next start."""
    record = attrs.evolve(RECORD, native_id=native_id)
    assert orders_again(record, resumes=True).resume_id == ""
    assert orders_of_adopter(record, CONTRACT, "# Brief", resumes=True).resume_id == ""


@pytest.mark.parametrize(
    ("resumes", "told"), [(True, "correct it"), (False, "correct it\n\nThe task was:\n\n{}")]
)
def test_who_does_not_remember_the_task_is_told_it_again_with_what_was_refused(resumes, told):
    record = attrs.evolve(RECORD, refused="correct it", attempt=2)
    said = correction(told)
    assert orders_again(record, resumes=resumes).prompt == said.format(record.task)
    adopter = orders_of_adopter(record, CONTRACT, "# Brief", resumes=resumes)
    assert adopter == Orders(said.format(CONTRACT.task_goal), "# Brief", "n-1" if resumes else "")


def test_who_goes_on_with_an_adopted_agents_work_is_given_its_contract_in_a_session_of_its_own_too():
    """It may prove not to be resumable, and was begun in another folder."""
    own, fresh = (
        orders_of_adopter(RECORD, CONTRACT, "# Brief", resumes=resumes) for resumes in (True, False)
    )
    assert own.prompt.startswith("You were stopped")
    assert own.prompt.endswith(CONTRACT.task_goal)
    assert fresh.prompt == receiver_prompt(CONTRACT)
    assert own.envelope == fresh.envelope == "# Brief"
