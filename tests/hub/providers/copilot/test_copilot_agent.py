"""Copilot CLI's command line and failures, and what it says in the model's place."""

from datetime import datetime

import attrs
import pytest

from hub.domain.accounts.account import Account
from hub.domain.event import EventType
from hub.domain.failure import FailureClass
from hub.providers.acp.failures import class_of, classify
from hub.providers.base import Ending, Stdin
from hub.providers.copilot import failures
from hub.providers.copilot.agent import PROVIDER
from tests.clock import in_zone
from tests.hub.providers.acp.lines import ended, words
from tests.hub.providers.captured import ASSIGNMENT, fold, lines_of, rpc


def told(*lines):
    opened = [rpc(id="init", result={}), rpc(id="new", result={"sessionId": "s"})]
    return fold(PROVIDER, ASSIGNMENT, [*opened, *lines, ended()])


def test_launch_speaks_acp_and_names_nothing_long():
    given = attrs.evolve(ASSIGNMENT, model="gpt-5.4", envelope="CONTRACT", program="/opt/copilot")
    launch = PROVIDER.launch(given)
    assert launch.argv == ["/opt/copilot", "--acp", "--no-auto-update", "--allow-all", "--model", "gpt-5.4"]
    assert launch.stdin is Stdin.PIPE
    asking = attrs.evolve(ASSIGNMENT, options={"approval_mode": "default", "args": ["--no-ask-user"]})
    assert PROVIDER.launch(asking).argv == ["copilot", "--acp", "--no-auto-update", "--no-ask-user"]


def test_environment_of_an_account():
    account = Account("a", "/acc", {"COPILOT_GITHUB_TOKEN": "t"})
    options = {"env": {"COPILOT_OFFLINE": "true"}}
    given = attrs.evolve(ASSIGNMENT, account=account, base_url="http://127.0.0.1:11434/v1", options=options)
    assert PROVIDER.launch(given).env == {
        "COPILOT_HOME": "/acc",
        "COPILOT_GITHUB_TOKEN": "t",
        "COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:11434/v1",
        "COPILOT_OFFLINE": "true",
    }


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Authentication failed with provider at http://x/v1 (HTTP 401).", FailureClass.AUTH),
        ("You have exceeded your premium request allowance.", FailureClass.USAGE_LIMIT),
        ("You've been rate limited on the current model.", FailureClass.USAGE_LIMIT),
        (
            "retried 5 times (total retry wait time: 54.27 seconds) Last error: 429 x",
            FailureClass.USAGE_LIMIT,
        ),
        ("retried 5 times (total retry wait time: 54.27 seconds) Last error: 503 x", FailureClass.OVERLOAD),
        (
            "Failed to get response from the AI model; retried 5 times Last error: 429 Your plan's quota is exceeded. It will reset at 2026-11-24T10:10:10Z.",
            FailureClass.USAGE_LIMIT,
        ),
        ("400 This model's maximum context length is 128000 tokens.", FailureClass.CONTEXT_OVERFLOW),
        ("Something new", None),
    ],
)
def test_its_own_words_come_before_the_vendors(text, kind):
    assert class_of(text, wording=failures.WORDING) is kind


@pytest.mark.parametrize(
    ("text", "resets_at"),
    [
        (
            "You've reached your weekly rate limit. Please wait for your limit to reset on April 20, 2026 at 2:00 AM.",
            "2026-04-20T00:00Z",
        ),
        (
            "Sorry, you've exceeded your 5 hour session limits. Please retry after 2733 seconds.",
            "2026-04-18T08:45:33Z",
        ),
        (
            "Sorry, you've hit a rate limit that restricts it. Please try again in 2 hours.",
            "2026-04-18T10:00Z",
        ),
        (
            'Execution failed: CAPIError: 429 {"error":{"message":"Usage limit reached, resets at 2026-04-18 22:00:00"}}',
            None,
        ),
    ],
)
def test_the_reset_of_a_limit_is_told_by_this_machines_clock(text, resets_at):
    """It tells no zone: the reset of a week's limit was unknown, and the account tried every few minutes."""
    with in_zone("Europe/Berlin"):
        now = datetime.fromisoformat("2026-04-18T08:00Z").timestamp()
        failure = classify(text, 0, now, wording=failures.WORDING)
    assert failure.kind is FailureClass.USAGE_LIMIT
    assert failure.resets_at == (datetime.fromisoformat(resets_at).timestamp() if resets_at else None)


def test_an_error_in_the_models_place_is_no_answer():
    """The turn ends as if it had succeeded; nobody knows this error, so the run fails closed."""
    folded = told(words("I will look."), words("Error: Something new"))
    assert folded.outcome.ending is Ending.FAILED
    assert folded.outcome.failure.kind is FailureClass.UNKNOWN
    assert folded.said(EventType.TEXT) == ["I will look."]
    assert len(folded.of(EventType.ERROR)) == 1


def test_an_error_the_agent_got_over_is_not_the_runs():
    folded = told(words("Error: 503 once"), words("Do"), words("ne."))
    assert (folded.outcome.ending, folded.outcome.text) == (Ending.DONE, "Done.")
    assert told(words("Error: 503 once"), words(" ")).outcome.failure.kind is FailureClass.OVERLOAD


def test_a_model_that_writes_of_errors_is_not_one():
    """A model's own text comes in pieces."""
    folded = told(words("Error"), words(": none. "), words("Done."))
    assert folded.outcome.ending is Ending.DONE


def test_retries_are_told_in_the_models_place():
    folded = fold(PROVIDER, ASSIGNMENT, lines_of("copilot", "overload2"))
    assert [event.meta["attempt"] for event in folded.of(EventType.RETRY)] == [1, 2]
    assert folded.said(EventType.TEXT) == ["Done."]


def test_its_list_of_tasks_is_told_as_a_plan():
    """It keeps it by SQL; what a statement that failed would have changed is not told."""

    def sql(call, query, status):
        update = {"toolCallId": call, "status": status, "title": "Track the work", "kind": "other"}
        begun = {"sessionUpdate": "tool_call", **update, "status": "pending", "rawInput": {"query": query}}
        ended = {"sessionUpdate": "tool_call_update", **update}
        return [
            rpc(method="session/update", params={"sessionId": "s", "update": one}) for one in (begun, ended)
        ]

    folded = told(
        *sql("1", "INSERT INTO todos (id, title) VALUES ('a', 'Read it'), ('b', 'Write it')", "completed"),
        *sql("2", "UPDATE todos SET status = 'done'", "failed"),
        *sql("3", "SELECT * FROM todos", "completed"),
        *sql("4", "UPDATE todos SET status = 'done' WHERE id = 'a'", "completed"),
        words("Done."),
    )
    plans = [event.meta for event in folded.events if "plan" in event.meta]
    assert [meta["plan"] for meta in plans] == [["Read it", "Write it"]] * 2
    assert [meta["tasksRemaining"] for meta in plans] == [["Read it", "Write it"], ["Write it"]]
