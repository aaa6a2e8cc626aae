"""What an agent is told: the same record gives the same assignment, and keys come from the settings alone."""

import attrs
import pytest

from hub.domain.contract import Contract, ContractInvalid, encode, sign
from hub.domain.prompt import Orders
from hub.io.files.atomic import write_atomic
from tests.hub.actors.session.parts import parts_of
from tests.settings import lay_out


async def test_the_same_record_gives_the_same_assignment(two, monkeypatch):
    """A crash between the record and the start must lead to the very same agent."""
    async with parts_of(two, monkeypatch) as first:
        record = first.record()
        assignment = first.fresh(record)
        assert first.fresh(record) == assignment
    async with parts_of(two, monkeypatch) as second:
        again = second.fresh(record)
        other = second.fresh(attrs.evolve(record, dispatch_id="d-2"))
    assert again == assignment
    assert other.native_id != assignment.native_id
    assert assignment.run_dir == two.hub / "run" / "d-1"


async def test_a_first_start_gets_the_task_and_another_try_what_is_left(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        first = parts.fresh(parts.record())
        again = parts.fresh(parts.record(attempt=2, native_id="n-1"))
    assert (first.prompt, first.resume_id, first.envelope) == ("write the files", "", "")
    assert again.prompt.endswith("write the files")
    assert again.prompt.startswith("You were stopped")
    assert again.resume_id == "n-1"


@pytest.mark.parametrize("native_id", ["-c", "--dangerously-bypass-approvals-and-sandbox"])
async def test_a_session_id_that_is_an_option_is_not_gone_on_with(two, monkeypatch, native_id):
    """The agent chooses it, and it becomes an argument of the agent's next start."""
    async with parts_of(two, monkeypatch) as parts:
        assert parts.fresh(parts.record(attempt=2, native_id=native_id)).resume_id == ""


async def test_an_agent_that_cannot_resume_is_not_asked_to(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        demo = parts.context.providers["demo-first"]
        monkeypatch.setattr(
            type(demo), "capabilities", attrs.evolve(demo.capabilities, resume=False), raising=True
        )
        assert parts.fresh(parts.record(attempt=2, native_id="n-1")).resume_id == ""


async def test_a_receiver_begins_anew_with_the_contract(two, monkeypatch):
    """Never the outgoing agent's session: a receiver is bound by the contract alone."""
    async with parts_of(two, monkeypatch) as parts:
        record = parts.record(provider="demo-second", native_id="n-1", attempt=2)
        assignment = parts.driver.control.assignment(record, Orders("Go on.", "# Contract"))
    assert (assignment.prompt, assignment.envelope, assignment.envelope_path) == (
        "Go on.",
        "# Contract",
        two.hub / "run" / "d-1" / "envelope.md",
    )
    assert assignment.resume_id == ""


async def test_settings_and_account_are_those_in_force(two, monkeypatch, tmp_path):
    toml = (two.root / "hub.toml").read_text()
    account = f'[[providers.demo-first.accounts]]\nlabel = "work"\nconfigDir = "{tmp_path}/home"\n'
    place = "[providers.demo-first]\n"
    lay_out(toml.replace(place, f'{place}model = "m-1"\n') + account, two.root, two.own)
    async with parts_of(two, monkeypatch) as parts:
        assignment = parts.fresh(parts.record(account="work"))
    assert assignment.model == "m-1"
    account = assignment.account
    assert (account.label, account.config_dir, account.env) == ("work", f"{tmp_path}/home", {})


async def test_a_profile_is_told_to_every_agent(two, monkeypatch, tmp_path):
    """Its words are the user's and for all agents: a secret of hub's in them is for none."""
    key = "sk-test-4242424242424242"
    toml = two.root / "hub.toml"
    toml.write_text(toml.read_text() + f'[providers.demo-first.env]\nDEMO_TOKEN = "{key}"\n')
    async with parts_of(two, monkeypatch) as parts:
        await parts.routing.refresh_config()
        record = parts.record(
            profile="docs", context_hint=f"Write for beginners. {key}\n", skills=("pdf", "tables")
        )
        first = parts.fresh(record).prompt
        again = parts.fresh(attrs.evolve(record, attempt=2)).prompt
        receiver = parts.driver.control.assignment(record, Orders("Go on.", "# Contract")).prompt
    assert first.startswith(
        "write the files\n\nContext, from the user's profile docs:\n\nWrite for beginners."
    )
    assert receiver.startswith("Go on.\n\nContext, from the user's profile docs:")
    for prompt in (first, again, receiver):
        assert prompt.endswith("Use these skills where you have them: pdf, tables.")
        assert key not in prompt


async def test_who_goes_on_with_an_adopted_agents_work_is_given_its_contract_and_no_other(two, monkeypatch):
    """Security: the brief lies in a file until the agent starts, perhaps days later."""
    async with parts_of(two, monkeypatch) as parts:
        record = parts.record(adopted=True, first="f" * 40)
        contract = Contract(
            contract_id="c-1", session_id=record.session_id, task_id="t-1", task_goal="write the files",
            snapshot_commit_sha=record.first, plan=("one",),
        )  # fmt: skip
        path = parts.context.places.adopted_json(record.session_id)
        signed = encode(sign(contract, parts.context.keys.contract))
        write_atomic(path, signed)
        first = parts.fresh(record)
        own = parts.fresh(attrs.evolve(record, native_id="n-1"))
        for data in (signed.replace(b"one", b"two"), encode(sign(contract, b"k" * 32))):
            write_atomic(path, data)
            with pytest.raises(ContractInvalid):
                parts.fresh(record)
        write_atomic(path, signed)
        with pytest.raises(ContractInvalid):
            parts.fresh(attrs.evolve(record, first="e" * 40))
    assert "hub did not start that agent" in first.envelope
    assert "- one" in first.envelope
    assert first.envelope_path == first.run_dir / "envelope.md"
    assert (first.resume_id, first.prompt.startswith("Continue a task that another agent began")) == (
        "",
        True,
    )
    # Its own session may prove not to be resumable, and was begun in another folder: it is given the brief as well.
    assert (own.resume_id, own.envelope) == ("n-1", first.envelope)
    assert own.prompt.startswith("You were stopped")
