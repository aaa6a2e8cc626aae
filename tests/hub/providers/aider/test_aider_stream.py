"""The fold over Aider's plain text, on captured runs: each trap by its name."""

import attrs
import pytest

from hub.domain.accounts.account import Account
from hub.domain.event import EventType
from hub.domain.failure import FailureClass
from hub.providers.aider import checks, failures
from hub.providers.aider.agent import PROVIDER
from hub.providers.base import Ending, ProcessExit, Stdin
from tests.hub.providers import captured
from tests.hub.providers.captured import NOW, exit_of, fold, lines_of, runs

ASSIGNMENT = attrs.evolve(captured.ASSIGNMENT, model="openai/gpt-5.5")
RUNS = runs("aider")
LINES = {run: lines_of("aider", run) for run in RUNS}
ENDED = ProcessExit(0)
BANNER = [
    "Aider v0.86.2",
    "Model: openai/gpt-5.5 with whole edit format",
    "Git repo: .git with 1 files",
    "Repo-map: x",
    "",
]
TOKENS = "Tokens: 774 sent, 14 received."
QUOTA = "litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota"
LIMITED = "The API provider has rate limited you. Try again later or check your quotas."
RETRYING = "Retrying in 0.2 seconds..."


def run(name, **more):
    return fold(PROVIDER, ASSIGNMENT, LINES[name], **{"end": exit_of("aider", name), **more})


def told(*lines, end=ENDED):
    """A run that has begun, and then these lines."""
    return fold(PROVIDER, ASSIGNMENT, [line.encode() for line in (*BANNER, *lines)], end=end)


@pytest.mark.parametrize(
    ("name", "ending", "kind"),
    [
        ("ok", Ending.DONE, None),
        ("overload", Ending.DONE, None),
        ("minute", Ending.DONE, None),
        ("own_request", Ending.DONE, None),
        ("quoted", Ending.DONE, None),
        ("commits", Ending.DONE, None),
        ("cut", Ending.DONE, None),  # Aider takes a torn answer for a whole one: only `verify` can tell
        ("limit", Ending.FAILED, FailureClass.USAGE_LIMIT),
        ("refusal", Ending.FAILED, FailureClass.REFUSAL),
        ("auth", Ending.FAILED, FailureClass.AUTH),
        ("context", Ending.FAILED, FailureClass.CONTEXT_OVERFLOW),
        ("no_login", Ending.FAILED, FailureClass.AUTH),
        ("no_model", Ending.FAILED, FailureClass.AUTH),
        ("given_up", Ending.FAILED, FailureClass.OVERLOAD),
    ],
)
def test_how_each_captured_run_ended(name, ending, kind):
    """The exit status is 0 in each of them that ended by itself."""
    folded = run(name)
    assert folded.outcome.ending is ending
    assert (folded.outcome.failure.kind if folded.outcome.failure else None) is kind
    assert len(folded.of(EventType.ERROR)) == (1 if kind else 0)


def test_an_edit_is_told_with_its_path_and_the_models_words_with_the_start_left_out():
    folded = run("ok")
    [edit] = folded.of(EventType.TOOL_USE)
    assert (edit.meta["tool"], edit.meta["path"]) == ("edit", "a/hello.txt")
    assert folded.said(EventType.TEXT) == ["Calling a tool.\n\na/hello.txt\n```\nhi\n```"]
    assert folded.outcome.text == folded.said(EventType.TEXT)[0]
    [usage] = folded.of(EventType.USAGE)
    assert usage.meta["model"] == "openai/gpt-5.5"
    assert usage.meta["approximate"] is True


def test_the_retries_of_an_overload_are_told_and_forgotten_when_the_answer_comes():
    waits = run("overload").of(EventType.RETRY)
    assert waits
    assert {event.meta["failure"] for event in waits} == {"overload"}
    assert [event.meta["attempt"] for event in waits] == list(range(1, len(waits) + 1))


def test_a_rate_limit_of_a_minute_is_left_to_aider():
    assert run("minute").of(EventType.RETRY)
    assert run("minute").outcome.ending is Ending.DONE


def test_a_commit_is_told_with_its_name():
    [commit] = [event for event in run("commits").events if "commit" in event.meta]
    assert len(commit.meta["commit"]) >= 7


def test_a_used_up_quota_ends_the_run_at_its_first_retry():
    folded = told(QUOTA, LIMITED, RETRYING, end=None)
    assert folded.outcome.failure.kind is FailureClass.USAGE_LIMIT
    assert folded.outcome.failure.resets_at is None
    assert LIMITED in folded.outcome.text


def test_an_error_is_the_end_only_where_nothing_follows():
    assert told("litellm.APIError: bad", end=ProcessExit(0)).outcome.failure.kind is FailureClass.OVERLOAD
    assert told("litellm.APIError: bad", RETRYING, "Done.", TOKENS).outcome.ending is Ending.DONE


def test_a_quoted_error_is_none_and_a_real_one_amid_the_text_is():
    """The answer's line of tokens makes the difference: a request that failed has none."""
    assert told("It says:", QUOTA, LIMITED, RETRYING, TOKENS).outcome.ending is Ending.DONE
    assert told("It says:", QUOTA, LIMITED).outcome.failure.kind is FailureClass.USAGE_LIMIT


def test_a_quoted_edit_before_the_tokens_is_none():
    assert not told("Applied edit to a.txt", TOKENS).of(EventType.TOOL_USE)
    assert told("x", TOKENS, "a.txt", "Applied edit to a.txt").of(EventType.TOOL_USE)


def test_an_answer_that_comes_after_all_clears_the_failure():
    """Aider sends an empty answer's file list back by itself; the second answer counts."""
    empty = "Empty response received from LLM. Check your provider account?"
    assert told(empty, TOKENS).outcome.failure.kind is FailureClass.REFUSAL
    assert told(empty, TOKENS, "Here.", TOKENS).outcome.ending is Ending.DONE


@pytest.mark.parametrize(
    ("line", "meta"),
    [
        ("Tokens: 774 sent, 14 received.", (774, 14, 0, None)),
        ("Tokens: 1.2k sent, 45 received. Cost: $0.0042 message, $0.01 session.", (1200, 45, 0, 4200)),
        ("Tokens: 12k sent, 3.4k cache write, 8.0k cache hit, 1.1k received.", (12000, 1100, 8000, None)),
    ],
)
def test_tokens_and_cost_are_read_as_they_are_rounded(line, meta):
    [usage] = told("x", line).of(EventType.USAGE)
    names = ("tokensIn", "tokensOut", "cachedIn", "costUsdMicros")
    assert tuple(usage.meta.get(name) for name in names) == meta


def test_a_cost_on_a_line_of_its_own_is_told_too():
    line = "Tokens: 12k sent, 3.4k cache write, 8.0k cache hit, 1.1k received."
    usage = told("x", line, "Cost: $0.12 message, $0.34 session.").of(EventType.USAGE)
    assert [event.meta.get("costUsdMicros") for event in usage] == [None, 120_000]


def test_thoughts_are_told_apart():
    folded = told("--------------", "► **THINKING**", "Hm.", "------------", "► **ANSWER**", "Yes.", TOKENS)
    assert folded.said(EventType.THINKING) == ["Hm."]
    assert folded.said(EventType.TEXT) == ["Yes."]


def test_a_long_text_is_told_in_parts_so_that_it_is_not_taken_for_silence():
    folded = told(*["x" * 1000] * 20, TOKENS)
    assert [len(event.content) for event in folded.of(EventType.TEXT)] == [9009, 9009, 2001]


def test_what_it_said_before_it_came_to_work_is_the_crashs_text():
    lines = [b"Unable to read git repository, it may be corrupt?"]
    folded = fold(PROVIDER, ASSIGNMENT, lines, end=ProcessExit(1, stderr_tail="aider: error: bad flag"))
    assert folded.outcome.failure.kind is FailureClass.CRASH
    assert "corrupt" in folded.outcome.text
    assert "bad flag" in folded.outcome.text


def test_a_killed_run_is_a_crash_and_a_stopped_one_is_none():
    assert told("One.", end=ProcessExit(None, 9)).outcome.failure.kind is FailureClass.CRASH
    stopped = told("One.", end=ProcessExit(0, asked=True))
    assert stopped.outcome.ending is Ending.INTERRUPTED
    assert stopped.outcome.text == "One."


def test_nothing_can_be_written_to_it():
    stream = told("One.", end=None).stream
    assert (stream.reply("x", "k"), stream.answer("a", True, ""), stream.interrupt()) == ((), (), ())


# The command line.


def test_contract_and_task_are_a_file_and_the_address_is_an_argument():
    given_ = attrs.evolve(
        ASSIGNMENT, envelope="CONTRACT", base_url="http://127.0.0.1:1/v1", program="/opt/aider"
    )
    launch = PROVIDER.launch(given_)
    assert launch.argv[0] == "/opt/aider"
    assert launch.argv[-2:] == ["--message-file", "/run/d-1/prompt.md"]
    assert launch.files == {"prompt.md": b"CONTRACT\n\nWrite hello.txt."}
    assert launch.stdin is Stdin.NULL
    assert "OPENAI_API_BASE=http://127.0.0.1:1/v1" in launch.argv


@pytest.mark.parametrize(
    "flag",
    [
        "--no-auto-commits",
        "--no-gitignore",
        "--no-detect-urls",
        "--no-analytics",
        "--no-suggest-shell-commands",
    ],
)
def test_what_its_yes_to_everything_must_not_mean(flag):
    assert flag in PROVIDER.launch(ASSIGNMENT).argv


def test_the_user_may_have_its_commits_back():
    argv = PROVIDER.launch(attrs.evolve(ASSIGNMENT, options={"auto_commits": True})).argv
    assert "--auto-commits" in argv
    assert "--no-auto-commits" not in argv


@pytest.mark.parametrize(
    ("model", "name"), [("anthropic/x", "ANTHROPIC"), ("x", "OPENAI"), ("github-models/x", "GITHUB_MODELS")]
)
def test_the_address_is_that_of_the_models_provider(model, name):
    argv = PROVIDER.launch(attrs.evolve(ASSIGNMENT, model=model, base_url="http://h")).argv
    assert f"{name}_API_BASE=http://h" in argv


@pytest.mark.parametrize("prompt", ["/run rm -rf .", "!ls", "  /add x"])
def test_a_prompt_that_looks_like_a_command_gets_a_head(prompt):
    assert (
        PROVIDER.launch(attrs.evolve(ASSIGNMENT, prompt=prompt)).files["prompt.md"]
        == f"Task:\n{prompt}".encode()
    )


def test_environment_of_an_account_is_its_env_file():
    env = PROVIDER.account_env(Account("a", "/acc", {"OPENAI_API_KEY": "k"}))
    assert env == {"AIDER_ENV_FILE": "/acc/.env", "OPENAI_API_KEY": "k"}
    launched = PROVIDER.launch(ASSIGNMENT).env
    assert (launched["BROWSER"], launched["COLUMNS"], launched["LINES"]) == ("true", "4000", "50")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("litellm.RateLimitError: RateLimitError: too many", FailureClass.USAGE_LIMIT),
        ("litellm.RateLimitError: AnthropicException - Overloaded", FailureClass.OVERLOAD),
        ("litellm.exceptions.APIError: Insufficient credits", FailureClass.USAGE_LIMIT),
        ("litellm.BadRequestError: maximum context length is 5", FailureClass.CONTEXT_OVERFLOW),
        ("litellm.AuthenticationError: no", FailureClass.AUTH),
        ("litellm.ContentPolicyViolationError: no", FailureClass.REFUSAL),
        ("litellm.ServiceUnavailableError: no", FailureClass.OVERLOAD),
        ("litellm.NotFoundError: no such model", FailureClass.UNKNOWN),
    ],
)
def test_words_then_the_exceptions_name(line, kind):
    trouble = failures.trouble(line)
    assert trouble.failure(NOW).kind is kind


def test_a_reset_is_read_where_the_words_tell_it():
    trouble = failures.trouble("litellm.RateLimitError: usage limit reached. Please try again in 2h.")
    assert trouble.failure(NOW).resets_at == pytest.approx(NOW + 7200, abs=60)


def test_what_a_check_of_the_users_writes_is_not_the_models_word():
    """With `--auto-test` Aider shows a failing check amid the chat, and says only afterwards what it was."""
    done = told(
        "I fix it.",
        TOKENS,
        "Applied edit to a.py",
        "Decision: fail",
        "",
        "Added 2 lines of output to the chat.",
    )
    assert "Decision: fail" not in "".join(done.said(EventType.TEXT))
    failed = done.of(EventType.TOOL_RESULT)[-1]
    assert (failed.content, failed.meta["isError"]) == ("Decision: fail", True)
    longer = told("x", TOKENS, "Word.", "no", "Added 1 line of output to the chat.")
    assert longer.said(EventType.TEXT)[-1] == "Word."
    assert longer.said(EventType.TOOL_RESULT) == ["no"]


def test_a_check_is_told_with_its_command_and_passes_in_silence():
    """Aider says nothing of a check that passes: that it did is sure once the run has ended well."""
    options = {"args": ["--auto-test", "--test-cmd", "make check"]}
    lines = [
        "I fix it.",
        TOKENS,
        "Applied edit to a.py",
        "no",
        "Added 1 line of output to the chat.",
        "So.",
        TOKENS,
    ]

    def ends(*more, end=ENDED):
        assignment = attrs.evolve(ASSIGNMENT, options=options)
        folded = fold(PROVIDER, assignment, [line.encode() for line in (*BANNER, *lines, *more)], end=end)
        checks = [event.meta for event in folded.of(EventType.TOOL_RESULT) if event.meta["tool"] == "check"]
        assert {meta["command"] for meta in checks} == {"make check"}
        return [(meta["isError"], meta.get("exitCode")) for meta in checks]

    assert ends("Applied edit to a.py") == [(True, None), (False, 0)]
    assert ends("Applied edit to a.py", end=ProcessExit(None, 15, asked=True)) == [(True, None)]
    assert ends() == [(True, None)], "nothing was edited since"


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--auto-test", "--test-cmd", "make check"], "make check"),
        (["--test-cmd=make check", "--auto-test"], "make check"),
        (["--test-cmd", "make check"], ""),
        (["--auto-test"], ""),
        (["--auto-test", "--test-cmd"], ""),
    ],
)
def test_the_command_of_a_check_is_in_the_arguments(arguments, found):
    assert checks.command(arguments) == found


def test_the_command_of_a_check_is_in_the_historys_command_line():
    line = "/opt/aider --yes-always --auto-test --test-cmd python3 check.py -v --file a.py"
    assert checks.command_in(line) == "python3 check.py -v"
    assert checks.command_in(line.replace(" --auto-test", "")) == ""
    assert checks.command_in("aider --auto-test") == ""
