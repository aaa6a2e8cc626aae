"""The Handoff Fidelity Score: the laws it keeps, and what each facet counts."""

from fractions import Fraction

import attrs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hub.domain.contract import Contract, Evidence, EvidenceKind, ManifestEntry, Snippet, Sourced
from hub.domain.event import Event, EventType, Record
from hub.domain.fidelity.fact import WEIGHTS, Facet
from hub.domain.fidelity.gold import GoldFold, builds
from hub.domain.fidelity.score import done_claims, verified, weigh
from hub.domain.intent.activity import read
from hub.domain.intent.draft import draft
from hub.domain.intent.fold import IntentFold
from hub.domain.result.proof import Proofs

GOAL = "Fix the parser. Do not touch the schema."
ACCEPTANCE = ("make test",)
SHA = "0123456789abcdef0123456789abcdef01234567"
WHOLE = {"audited": True, "secret_free": True, "tree_matches": True}
EMPTY = Contract(contract_id="c", session_id="s", task_id="t", task_goal="", snapshot_commit_sha="")


def numbered(events):
    return list(enumerate(events, 1))


def facts_of(events, *, goal="", acceptance=(), skills=(), handoff_id="", root=""):
    """The facts of a log, in whatever order it is given, up to the moment when the handoff's contract was written."""
    fold = GoldFold(goal, acceptance, skills)
    for number, event in sorted(dict(events).items()):
        seen = read(number, event, root)
        if handoff_id and builds(seen) == handoff_id:
            break
        fold.take(seen)
    return fold.facts()


def score(log, contract, *, goal=GOAL, acceptance=ACCEPTANCE, root="", **changes):
    """The contract's fidelity to the log up to it."""
    facts = facts_of(log, goal=goal, acceptance=acceptance, handoff_id=contract.handoff_id, root=root)
    return weigh(facts, contract, root=root, **{**WHOLE, **changes})


def contract_of(log, **changes) -> Contract:
    """The contract hub itself would write, complete."""
    fold = IntentFold(GOAL)
    for number, event in log:
        fold.feed(number, event)
    intent = fold.intent()
    gates = {
        event.meta["command"]: Evidence(
            EvidenceKind.VERIFY, event.meta["command"], number, event.meta.get("exitCode")
        )
        for number, event in log
        if isinstance(event, Record) and event.msg.startswith("verify ")
    }
    known = Contract(
        contract_id="c-1",
        session_id="s-1",
        task_id="t-1",
        task_goal=GOAL,
        snapshot_commit_sha=SHA,
        acceptance_assertions=ACCEPTANCE,
        file_manifest=tuple(ManifestEntry(f.path, "ab", modified=True) for f in intent.files if f.written),
        handoff_id="h-1",
    )
    return attrs.evolve(draft(known, intent, verify_evidence=tuple(gates.values())), **changes)


def hub(tag: str, msg: str, **meta) -> Record:
    return Record(0, "00:00:00.000", tag, msg, meta)


def agent(kind: EventType, content: str, **meta) -> Event:
    return Event(kind, content, meta)


LOG = numbered(
    [
        agent(EventType.SYSTEM, "init", model="m-1", skills=["pdf"], mcps=["db"]),
        agent(EventType.SYSTEM, "plan", plan=["read", "write", "test"], tasksRemaining=["write", "test"]),
        agent(EventType.TEXT, "Decision: keep the table.\nWe must not rename it."),
        agent(EventType.TOOL_USE, "", tool="Edit", toolId="1", path="src/a.py", input="code a"),
        agent(EventType.TOOL_RESULT, "ok", toolId="1"),
        agent(EventType.TOOL_USE, "", tool="Bash", toolId="2", command="make"),
        agent(EventType.TOOL_RESULT, "boom", toolId="2", exitCode=2),
        agent(EventType.TEXT, "Keep version 1 alive", role="user"),
        agent(EventType.TOOL_USE, "", tool="Write", toolId="3", path="src/b.py", input="code b"),
        hub("handoff", "PAUSING -> SNAPSHOTTED", snapshot=SHA, to="SNAPSHOTTED", handoffId="h-1"),
        hub("system", "verify: make test", command="make test"),
        hub("error", "verify failed (exit 1): make test", command="make test", exitCode=1),
        hub("handoff", "SNAPSHOTTED -> ENVELOPE_BUILT", to="ENVELOPE_BUILT", handoffId="h-1"),
        agent(EventType.SYSTEM, "init", model="receiver", skills=["other"]),
        agent(EventType.TOOL_RESULT, "ok", command="make", exitCode=0),
    ]
)
CONTRACT = contract_of(LOG[:12])

# --- what a complete contract scores ------------------------------------------------------------------------


def test_a_complete_contract_scores_100_with_every_facet_present():
    found = score(LOG, CONTRACT)
    assert (found.hfs, found.missing, found.unsupported) == (100, (), ())
    assert set(found.per_class) == set(Facet)


def test_the_weights_are_the_ones_decided_and_sum_to_one():
    assert [WEIGHTS[facet] for facet in Facet] == [20, 15, 12, 12, 10, 10, 8, 8, 5]
    assert sum(WEIGHTS.values()) == 100


def test_what_the_receiver_did_after_the_contract_does_not_count():
    assert score(LOG, CONTRACT) == score(LOG[:12], CONTRACT)


def test_an_empty_contract_of_a_full_log_scores_0():
    found = score(LOG, attrs.evolve(EMPTY, handoff_id="h-1"))
    assert (found.hfs, found.unsupported, set(found.per_class.values())) == (0, (), {0.0})


def test_of_a_log_without_facts_nothing_is_lost():
    assert score([], EMPTY, goal="", acceptance=()).hfs == 100


def test_the_formula():
    """One facet of weight 20 with two equal facts, one found; one of two claims supported."""
    contract = attrs.evolve(EMPTY, task_goal="g", decisions=(Sourced("invented", 7),))
    found = score([], contract, goal="g", acceptance=["check"])
    assert found.exact == Fraction(1, 2) * Fraction(1, 2) ** 2
    assert found.hfs == 12
    assert found.missing == ("objective: accept check",)
    assert found.unsupported == ("decisions: invented",)


def test_a_newer_and_more_often_named_fact_weighs_more():
    log = numbered(
        [
            agent(EventType.TEXT, "Decision: old"),
            agent(EventType.TEXT, "Decision: new"),
            agent(EventType.TEXT, "Decision: new"),
        ]
    )
    facts = facts_of(log)
    assert facts.weight((Facet.DECISIONS, "old")) == 5 * 1
    assert facts.weight((Facet.DECISIONS, "new")) == 7 * 2


@pytest.mark.parametrize(
    ("lost", "facet"),
    [
        ({"task_goal": "", "initial_prompt": ""}, "objective"),
        ({"acceptance_assertions": ()}, "objective"),
        ({"constraints": CONTRACT.constraints[:-1]}, "objective"),
        ({"constraints": CONTRACT.constraints[1:]}, "decisions"),
        ({"decisions": ()}, "decisions"),
        ({"file_manifest": CONTRACT.file_manifest[1:]}, "artifacts"),
        ({"in_flight_code": ()}, "artifacts"),
        ({"snapshot_commit_sha": ""}, "repository"),
        ({"tasks_remaining": ()}, "next"),
        ({"do_not_redo": ()}, "next"),
        ({"skills_loaded": ()}, "harness"),
        (
            {"evidence": tuple(e for e in CONTRACT.evidence if e.kind is not EvidenceKind.VERIFY)},
            "verification",
        ),
        ({"evidence": tuple(e for e in CONTRACT.evidence if e.kind is not EvidenceKind.COMMAND)}, "commands"),
        ({"evidence": tuple(e for e in CONTRACT.evidence if e.kind is not EvidenceKind.HARNESS)}, "harness"),
        (
            {"evidence": tuple(e for e in CONTRACT.evidence if e.kind is not EvidenceKind.FAILED_ATTEMPT)},
            "failed_attempts",
        ),
    ],
)
def test_each_facet_is_lost_with_its_part_of_the_contract(lost, facet):
    found = score(LOG, attrs.evolve(CONTRACT, **lost))
    assert found.hfs < 100
    assert {name for name, share in found.per_class.items() if share < 1} == {facet}
    assert {line.split(":")[0] for line in found.missing} == {facet}
    assert found.unsupported == ()


# --- claims -------------------------------------------------------------------------------------------------

INVENTED = [
    {"task_goal": "Delete it"},
    {"acceptance_assertions": ("true",)},
    {"decisions": (Sourced("keep the table.", 5),)},
    {"constraints": (Sourced("invented", 3),)},
    {"snapshot_commit_sha": "f" * 40},
    {"in_flight_code": (Snippet("src/b.py", "other"),)},
    {"tasks_remaining": ("read",)},
    {"do_not_redo": ("write",)},
    {"plan": ("fly",)},
    {"next_action": "fly"},
    {"skills_in_use": ("flying",)},
    {"evidence": (Evidence(EvidenceKind.VERIFY, "make test", 12, 0),)},
    {"evidence": (Evidence(EvidenceKind.COMMAND, "make", 6, 2),)},
    {"evidence": (Evidence(EvidenceKind.FAILED_ATTEMPT, "flying failed", 7),)},
    {"evidence": (Evidence(EvidenceKind.HARNESS, "m-2", 1),)},
]


@pytest.mark.parametrize("invented", INVENTED, ids=lambda change: next(iter(change)))
def test_a_claim_without_support_is_named_and_costs(invented):
    found = score(LOG, attrs.evolve(CONTRACT, **invented))
    assert len(found.unsupported) == 1
    assert found.hfs < 100


def test_a_file_only_git_saw_counts_neither_way_unless_the_snapshots_paths_are_given():
    more = attrs.evolve(
        CONTRACT, file_manifest=(*CONTRACT.file_manifest, ManifestEntry("made.txt", "ab", modified=True))
    )
    assert score(LOG, more).hfs == 100
    assert score(LOG, more, snapshot_paths={"made.txt"}).hfs == 100
    assert score(LOG, more, snapshot_paths={"src/a.py"}).unsupported == ("artifacts: made.txt",)


def test_an_interruption_is_hubs_own_word_and_needs_no_support():
    evidence = (*CONTRACT.evidence, Evidence(EvidenceKind.INTERRUPT, "no safe point came in time", 0))
    assert score(LOG, attrs.evolve(CONTRACT, evidence=evidence)).hfs == 100


def test_what_a_later_event_contradicts_is_unsupported():
    """A contract written too early: the command passed and the step was finished after it."""
    more = numbered(
        [
            *(event for _, event in LOG[:12]),
            agent(EventType.TOOL_RESULT, "ok", command="make", exitCode=0),
            agent(EventType.SYSTEM, "plan", tasksRemaining=["test"]),
        ]
    )
    found = score(more, CONTRACT)
    assert found.unsupported == (
        "commands: make -> 2",
        "failed_attempts: make ended with exit status 2: boom",
        "next: left write",
        "next: next write",
    )
    assert {"commands: make -> 0", "next: done write"} <= set(found.missing)


def test_writes_outside_the_worktree_and_failed_ones_are_not_missed():
    log = numbered(
        [
            agent(EventType.TOOL_USE, "", tool="Write", toolId="1", path="/tmp/x"),
            agent(EventType.TOOL_RESULT, "ok", toolId="1"),
            agent(EventType.TOOL_USE, "", tool="Write", toolId="2", path="/w/a"),
            agent(EventType.TOOL_RESULT, "no", toolId="2", isError=True),
            agent(EventType.TOOL_USE, "", tool="Write", toolId="3", path="/tmp/y"),
        ]
    )
    assert "artifacts" not in score(log, EMPTY, root="/w").per_class


def test_a_path_may_be_told_with_or_without_the_worktree():
    log = numbered([agent(EventType.TOOL_USE, "", tool="Write", path="/w/a", input="code")])
    for path in ("a", "/w/a"):
        told = attrs.evolve(
            EMPTY,
            in_flight_code=(Snippet(path, "code"),),
            file_manifest=(ManifestEntry("a", "", modified=True),),
        )
        assert score(log, told, root="/w").per_class["artifacts"] == 1


def test_hubs_own_records_are_no_source_of_the_agents_harness_or_plan():
    log = numbered([hub("system", "session started", model="m-1", plan=["x"], skills=["y"])])
    assert set(score(log, EMPTY).per_class) == {"objective", "decisions"}
    assert contract_of(log).plan == ()


def test_a_users_reply_logged_by_hub_binds_and_is_measured():
    log = numbered([hub("text", "Use port 5", role="user")])
    assert score(log, contract_of(log)).hfs == 100
    assert score(log, contract_of([])).missing == ("objective: order the user said: use port 5",)


def test_a_verification_that_timed_out_has_no_status():
    log = numbered([hub("error", "verify failed: make test", command="make test")])
    contract = attrs.evolve(EMPTY, evidence=(Evidence(EvidenceKind.VERIFY, "make test", 1),))
    assert score(log, contract).per_class["verification"] == 1


def test_an_agent_cannot_make_a_verification_fact():
    log = numbered([agent(EventType.ERROR, "verify passed: make test", command="make test", exitCode=0)])
    logged = [(1, hub("error", "verify passed: make test", command="make test", exitCode=0, type="error"))]
    assert "verification" not in score(log, EMPTY).per_class
    assert "verification" not in score(logged, EMPTY).per_class


def test_without_a_given_goal_the_users_first_words_are_the_objective():
    log = numbered([agent(EventType.TEXT, "Fix it", role="user")])
    found = score(log, attrs.evolve(EMPTY, task_goal="fix  IT"), goal="", acceptance=())
    assert (found.hfs, found.missing) == (100, ())


# --- laws ---------------------------------------------------------------------------------------------------

prose = st.sampled_from(
    [
        "Decision: one", "Decision: two", "It must not break.", "Done: one", "Next: two", "Hello.", "Now I test.",
        "The index is already done. I decided to wait.", "Plan:\n1. one\n2. two\n3. three", "Steps 1 and 2 are done.",
        "Remaining:\n- three\n- one",
    ]
)  # fmt: skip
steps = st.lists(st.sampled_from(["one", "two", "three"]), max_size=3, unique=True)
moves = st.one_of(
    st.builds(agent, st.just(EventType.TEXT), prose),
    st.builds(agent, st.just(EventType.TEXT), prose, delta=st.just(True)),
    st.builds(agent, st.just(EventType.TEXT), prose, role=st.just("user")),
    st.builds(agent, st.just(EventType.SYSTEM), st.just(""), plan=steps, tasksRemaining=steps),
    st.builds(agent, st.just(EventType.SYSTEM), st.just(""), plan=steps),
    st.builds(agent, st.just(EventType.SYSTEM), st.just(""), tasksRemaining=steps),
    st.builds(
        agent,
        st.just(EventType.SYSTEM),
        st.just(""),
        skills=st.lists(st.sampled_from(["one", "pdf"]), max_size=2),
        mcps=st.lists(st.sampled_from(["db", "web"]), max_size=2),
        model=st.sampled_from(["m-1", "m-2"]),
    ),
    st.builds(
        agent,
        st.just(EventType.TOOL_USE),
        st.just(""),
        tool=st.sampled_from(["Edit", "Read"]),
        toolId=st.sampled_from("12"),
        path=st.sampled_from(["a", "b"]),
        input=st.sampled_from(["code", "other"]),
    ),
    st.builds(
        agent,
        st.just(EventType.TOOL_USE),
        st.just(""),
        tool=st.just("Bash"),
        toolId=st.sampled_from("12"),
        command=st.sampled_from(["make", "ls", "make && ls", "ls > a"]),
    ),
    st.builds(
        agent,
        st.just(EventType.TOOL_RESULT),
        st.sampled_from(["ok", "boom"]),
        toolId=st.sampled_from("12"),
        exitCode=st.integers(0, 1),
    ),
    st.builds(
        hub,
        st.just("error"),
        st.just("verify failed"),
        command=st.just("make test"),
        exitCode=st.integers(1, 2),
    ),
    st.just(hub("handoff", "PAUSING -> SNAPSHOTTED", snapshot=SHA, to="SNAPSHOTTED", handoffId="h-1")),
)
logs = st.lists(moves, max_size=14).map(numbered)
LISTS = [
    "do_not_redo", "acceptance_assertions", "file_manifest", "decisions", "constraints", "plan", "tasks_remaining",
    "skills_loaded", "skills_in_use", "skills_to_use", "in_flight_code", "evidence",
]  # fmt: skip
TEXTS = ["task_goal", "initial_prompt", "next_action", "snapshot_commit_sha"]


@given(logs)
@settings(max_examples=60)
def test_the_contract_hub_writes_carries_everything_and_nothing_else(log):
    """The fold that fills a contract and the measure read the log independently, and agree on every log."""
    log = [*log, (len(log) + 1, agent(EventType.USAGE, ""))]
    found = score(log, contract_of(log))
    assert (found.missing, found.unsupported, found.hfs) == ((), (), 100)


@given(logs, st.data())
@settings(max_examples=40)
def test_law_1_deleting_a_fact_never_raises_the_score(log, data):
    contract = contract_of(log)
    before = score(log, contract)
    for _ in range(3):
        name = data.draw(st.sampled_from([*LISTS, *TEXTS]))
        items = getattr(contract, name)
        if name in LISTS and items:
            gone = data.draw(st.integers(0, len(items) - 1))
            contract = attrs.evolve(contract, **{name: (*items[:gone], *items[gone + 1 :])})
        elif name in TEXTS:
            contract = attrs.evolve(contract, **{name: ""})
        after = score(log, contract)
        assert after.exact <= before.exact
        assert after.hfs <= before.hfs
        before = after


@given(
    logs, st.sampled_from(["decisions", "do_not_redo", "evidence", "skills_loaded", "in_flight_code", "plan"])
)
@settings(max_examples=40)
def test_law_2_an_unsupported_claim_lowers_the_score(log, name):
    claims = {
        "decisions": Sourced("nobody said this", 1),
        "evidence": Evidence(EvidenceKind.COMMAND, "never run", 1, 0),
        "in_flight_code": Snippet("a", "nobody wrote this"),
    }
    contract = contract_of(log)
    before = score(log, contract)
    assume(before.exact > 0)
    items = (*getattr(contract, name), claims.get(name, "nobody said this"))
    after = score(log, attrs.evolve(contract, **{name: items}))
    assert after.exact < before.exact
    assert after.hfs <= before.hfs


@given(logs, st.randoms(use_true_random=False), st.integers(0, 2))
@settings(max_examples=40)
def test_law_3_reordering_changes_nothing(log, random, lost):
    contract = attrs.evolve(contract_of(log), evidence=contract_of(log).evidence[lost:])
    shuffled = contract
    for name in LISTS:
        items = list(getattr(contract, name))
        random.shuffle(items)
        shuffled = attrs.evolve(shuffled, **{name: tuple(items)})
    other = list(log)
    random.shuffle(other)
    assert score(other, shuffled) == score(log, contract)


@given(logs, st.sampled_from(sorted(WHOLE)))
@settings(max_examples=25)
def test_law_4_a_bad_audit_secret_or_tree_gives_0(log, flaw):
    found = score(log, contract_of(log), **{flaw: False})
    assert (found.hfs, found.exact) == (0, 0)


@given(logs)
@settings(max_examples=25)
def test_law_5_the_same_input_gives_the_same_number(log):
    assert score(log, contract_of(log)) == score(iter(list(log)), contract_of(list(log)))


@given(logs)
@settings(max_examples=25)
def test_the_score_is_a_whole_number_from_0_to_100_and_the_facets_are_shares(log):
    found = score(log, attrs.evolve(contract_of(log), evidence=(), decisions=(Sourced("x", 99),)))
    assert isinstance(found.hfs, int)
    assert 0 <= found.hfs <= 100
    assert all(0 <= share <= 1 for share in found.per_class.values())


def test_what_lapsed_when_the_turn_ended_is_not_missed():
    """The score and the contract know by one rule that a turn has ended: words of before it are not asked for."""
    log = numbered(
        [
            agent(EventType.TEXT, "Next I document it in README.md."),
            agent(EventType.TOOL_USE, "", tool="Bash", toolId="1", command="git diff"),
            agent(EventType.TOOL_RESULT, "", toolId="1", exitCode=0),
            agent(EventType.RESULT, "It is done.", isError=False),
        ]
    )
    assert contract_of(log).next_action == ""
    assert "next" not in " ".join(score(log, contract_of(log)).missing)
    assert contract_of(log[:3]).next_action
    stale = attrs.evolve(contract_of(log), next_action="")
    assert score(log[:3], stale).missing


def test_what_is_told_late_is_a_fact_in_its_place_and_weighs_no_more():
    """A stopped agent's own store told what its stream left out: the facts are those of a stream that had told it."""
    calls = [
        agent(EventType.TOOL_USE, "", tool="todos", toolId="1"),
        agent(EventType.TOOL_RESULT, "", toolId="1"),
        agent(EventType.TOOL_USE, "", tool="sh", toolId="2", command="make"),
        agent(EventType.TOOL_RESULT, "", toolId="2"),
        agent(EventType.TEXT, "Next: look."),
    ]
    lists = {"plan": ["a", "b"], "tasksRemaining": ["b"]}
    late = [
        agent(EventType.SYSTEM, "", amends=2, **lists),
        agent(EventType.TOOL_RESULT, "boom", toolId="2", command="make", exitCode=1, amends=4),
    ]
    at_once = [
        *calls[:1],
        agent(EventType.TOOL_RESULT, "", toolId="1", **lists),
        *calls[2:3],
        agent(EventType.TOOL_RESULT, "boom", toolId="2", exitCode=1),
        *calls[4:],
    ]
    log = numbered([*calls, *late])
    assert facts_of(log) == facts_of(numbered(at_once))
    found = score(log, contract_of(log))
    assert (found.missing, found.unsupported) == ((), ())


def test_what_is_told_late_after_the_contract_does_not_count():
    late = agent(EventType.TOOL_RESULT, "", command="make", exitCode=0, amends=7)
    assert score([*LOG, (len(LOG) + 1, late)], CONTRACT) == score(LOG, CONTRACT)


# --- what is said to be done --------------------------------------------------------------------------------

CLAIMS = numbered(
    [
        agent(EventType.TEXT, "a.py is already written. b.py is already written."),
        hub("error", "verify failed (exit 1): make test", command="make test", exitCode=1),
    ]
)


def test_a_claim_without_evidence_is_no_fact_and_costs():
    """It was 100 beside a failed verify and a false "has been written"."""
    honest = contract_of(CLAIMS)
    proofs = Proofs(files=frozenset({"a.py"}))
    found = score(CLAIMS, honest, proofs=proofs)
    assert found.unsupported == ("next: done b.py is already written.",)
    assert found.hfs < 100
    assert found.missing == ()
    assert score(CLAIMS, honest).hfs == 100, "without proofs an agent's word is enough"
    assert score(CLAIMS, honest, proofs=Proofs(verified=True)).hfs == 100


def test_a_claim_that_is_told_as_one_counts_once():
    proofs = Proofs(files=frozenset({"a.py"}))
    claim = Evidence(EvidenceKind.CLAIM, "b.py is already written.", 1)
    contract = contract_of(CLAIMS)
    doubted = attrs.evolve(contract, evidence=(*contract.evidence, claim))
    assert score(CLAIMS, doubted, proofs=proofs) == score(CLAIMS, contract, proofs=proofs)
    moved = attrs.evolve(doubted, do_not_redo=("a.py is already written.",))
    assert score(CLAIMS, moved, proofs=proofs).exact == score(CLAIMS, contract, proofs=proofs).exact


def test_the_log_tells_what_was_verified_and_what_is_claimed():
    facts = facts_of(CLAIMS)
    assert set(done_claims(facts)) == {"a.py is already written.", "b.py is already written."}
    assert not verified(facts, ["make test"])
    assert not verified(facts, [])
    passed = facts_of(numbered([hub("system", "verify passed", command="make test", exitCode=0)]))
    assert verified(passed, ["make test"])
    assert not verified(passed, ["make test", "make lint"])


@given(logs, st.sets(st.sampled_from(["one", "a.py"]), max_size=2))
@settings(max_examples=40)
def test_law_6_evidence_never_lowers_the_score(log, files):
    contract = contract_of(log)
    without = score(log, contract, proofs=Proofs())
    found = score(log, contract, proofs=Proofs(files=frozenset(files)))
    assert without.exact <= found.exact <= score(log, contract, proofs=Proofs(verified=True)).exact
