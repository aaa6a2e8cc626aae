"""Failures are read where they stand: what reports one, and what only looks like it.

`told.txt` holds what real programs wrote as their own error, one a line behind its class and the agent, as their users
reported it. `harmless/` holds lines that are no failure of an agent's: traces, tools, tests, logs, agents' prose. Those of `network.txt`
are other programs' words on standard error, yet say what they say where an agent gives them as its own error.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.failure import FailureClass
from hub.providers.acp import failures as acp
from hub.providers.aider import failures as aider
from hub.providers.claude import failures as claude
from hub.providers.codex import failures as codex
from hub.providers.copilot import failures as copilot
from hub.providers.gemini import failures as gemini
from hub.providers.opencode import failures as opencode
from hub.providers.qwen import failures as qwen
from hub.providers.vendors import REASONS, TYPES
from tests.hub.providers.captured import NOW

LIMIT, AUTH, OVERLOAD = FailureClass.USAGE_LIMIT, FailureClass.AUTH, FailureClass.OVERLOAD
CONTEXT, REFUSAL = FailureClass.CONTEXT_OVERFLOW, FailureClass.REFUSAL
HOW = "it ended (exit code 1)"
WORDINGS = {
    module.__name__.split(".")[2]: module.WORDING
    for module in (acp, aider, claude, codex, copilot, gemini, opencode, qwen)
}
ENDS = {
    "acp": lambda line: acp.WORDING.of_exit(line, NOW, HOW),
    "aider": lambda line: aider.from_exit("", line, HOW),
    "claude": lambda line: claude.WORDING.of_exit(line, NOW, HOW),
    "codex": lambda line: codex.from_exit(line, NOW, HOW),
    "copilot": lambda line: copilot.WORDING.of_exit(line, NOW, HOW),
    "gemini": lambda line: gemini.WORDING.of_exit(line, NOW, HOW),
    "qwen": lambda line: qwen.WORDING.of_exit(line, NOW, HOW),
}
HARMLESS = {
    file.stem: file.read_text().splitlines()
    for file in sorted(Path(__file__).with_name("harmless").glob("*.txt"))
}
TOLD = Path(__file__).with_name("told.txt").read_text().splitlines()

VENDORS = [
    (LIMIT, "Claude AI usage limit reached|1795236877"),
    (LIMIT, "\x1b[1m\x1b[31mError:\x1b[0m \x1b[31m429 Too Many Requests\x1b[0m"),
    (LIMIT, "You\u00a0exceeded your current\u202fquota"),
    (LIMIT, "You\u2019ve reached your 5\u2011hour limit. Try again at 4:53\u202fAM."),
    (LIMIT, "You\u2018ve been rate\u2010limited"),
    (REFUSAL, "The model response was blocked due to safety settings."),
    (LIMIT, "You've hit your limit \u00b7 resets 3pm (Europe/Berlin)"),
    (LIMIT, "You've hit your weekly limit \u00b7 resets Dec 1"),
    (LIMIT, "5-hour limit reached \u2219 resets 3pm"),
    (LIMIT, "You\u2019ve hit your usage limit. Try again at 4:53 AM."),
    (LIMIT, "Error: You exceeded your current quota, please check your plan and billing details."),
    (LIMIT, "Error: 429 You exceeded your current quota"),
    (LIMIT, "[API Error: You have exhausted your daily quota on this model.]"),
    (LIMIT, "Quota exceeded for quota metric 'Gemini 2.5 Pro Requests' and limit 'per day'"),
    (LIMIT, '429 {"type":"error","error":{"type":"rate_limit_error","message":"No."}}'),
    (LIMIT, '{"error":{"code":429,"message":"No.","status":"RESOURCE_EXHAUSTED"}}'),
    (LIMIT, '{"error":{"code":429,"message":"No."}}'),
    (LIMIT, "Error code: 429 - {'error': {'message': 'No.'}}"),
    (LIMIT, "openai.RateLimitError: No."),
    (LIMIT, "unexpected status 429 Too Many Requests: slow down"),
    (LIMIT, "Your credit balance is too low to access the Anthropic API."),
    (LIMIT, "Error: insufficient_quota"),
    (LIMIT, "Insufficient credits. Add more at https://example.com/credits"),
    (LIMIT, "402 Payment Required"),
    (LIMIT, "HTTP 429: Too Many Requests"),
    (LIMIT, "Request failed with status code 429"),
    (LIMIT, "got status: RESOURCE_EXHAUSTED. See the docs."),
    (LIMIT, "Rate limit exceeded. Please try again in 20s."),
    (LIMIT, "Rate limit reached for gpt-5.5 in organization org-test on requests per min (RPM): Limit 3."),
    (AUTH, "Invalid API key \u00b7 Please run /login"),
    (AUTH, "Not logged in \u00b7 Please run /login"),
    (AUTH, "401 Unauthorized"),
    (AUTH, 'API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"No."}}'),
    (AUTH, "Error: Incorrect API key provided: key. You can find your API key at https://example.com"),
    (AUTH, "API key not valid. Please pass a valid API key."),
    (AUTH, "Gemini API key is missing or not configured."),
    (AUTH, "OAuth token has expired. Please obtain a new token"),
    (AUTH, "Your access token could not be refreshed because it has expired"),
    (AUTH, "authentication_error: no"),
    (AUTH, "unexpected status 401 Unauthorized: Missing bearer, url: https://example.com/v1/responses"),
    (AUTH, '{"error":{"code":400,"message":"No.","details":[{"reason":"API_KEY_INVALID"}]}}'),
    (AUTH, "This organization has been disabled."),
    (AUTH, "status: 401"),
    (OVERLOAD, "API Error: 529 Overloaded. This is a server-side issue, usually temporary"),
    (OVERLOAD, "API Error: 500 Internal server error"),
    (OVERLOAD, "The model is overloaded. Please try again later."),
    (OVERLOAD, "You have exhausted your capacity on this model."),
    (
        OVERLOAD,
        '{"error":{"code":429,"message":"You have exhausted your capacity.","status":"RESOURCE_EXHAUSTED"}}',
    ),
    (OVERLOAD, "503 Service Unavailable"),
    (OVERLOAD, "Selected model is at capacity. Please try a different model."),
    (OVERLOAD, "overloaded_error: Overloaded"),
    (OVERLOAD, "status: 502"),
    (CONTEXT, "Prompt is too long"),
    (CONTEXT, "prompt is too long: 210000 tokens > 200000 maximum"),
    (CONTEXT, "400 This model's maximum context length is 128000 tokens."),
    (CONTEXT, "Error: context_length_exceeded"),
    (CONTEXT, "Your input exceeds the context window of this model."),
    (CONTEXT, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
    (CONTEXT, "413 Request Entity Too Large"),
    (CONTEXT, "You've exceeded this model's context limit."),
    (CONTEXT, "You've exceeded this model's maximum token limit."),
    (CONTEXT, "You've exceeded this model's input token limit."),
    (CONTEXT, "You have reached this model's context window limit of 200000 tokens."),
    (CONTEXT, "You've exceeded your context limit"),
    (LIMIT, "You've hit this model's weekly usage limit. Try again on Monday."),
    (LIMIT, "Session limit reached resets 3pm"),
    (LIMIT, "Additional usage limit reached for organization acme"),
    (LIMIT, "You are out of AI credits until Monday"),
    (LIMIT, "Free allocated quota exceeded for model qwen3"),
    (LIMIT, "Claude AI usage limit reached for now"),
    (REFUSAL, "API Error: Sonnet 5.5's safeguards flagged this message"),
    (REFUSAL, "Your request was flagged by our content filter."),
    (
        REFUSAL,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    ),
    (REFUSAL, "content_policy_violation"),
    (REFUSAL, "Response blocked due to SAFETY"),
]
"""What vendors and agents say, whoever is asked and wherever it is read."""
OWN_ERRORS = [
    (LIMIT, '{"error":{"message":"{\\"error\\":{\\"code\\":429}}"}}'),
    (LIMIT, "Something broke. You exceeded your current quota."),
    (LIMIT, "429 No."),
    (AUTH, "Authentication required"),
    (AUTH, "Authentication required: Authentication failed: Missing API key for openai auth."),
    (OVERLOAD, "exception TypeError: fetch failed sending request"),
    (OVERLOAD, "Error: connect ECONNREFUSED 127.0.0.1:11434"),
    (OVERLOAD, "API Error: Connection error."),
    (OVERLOAD, "API Error: Request timed out."),
    (OVERLOAD, "Internal server error"),
]
"""Believed of an agent that gives it as its error."""
NUMBERS = st.sampled_from([401, 402, 403, 413, 429, 500, 502, 503, 504, 529])
COUNTED = (
    *(
        "src/x.rs:{}",
        "src/x.rs:{}:7: note",
        "    at x.js:{}:28",
        '  File "x.py", line {}, in x',
        "x.go:{} +0x1a4",
    ),
    *(
        "segfault at 0x40{}5f",
        "#0 0x{} in main ()",
        "listening on port {}",
        "Listening on http://127.0.0.1:{}0",
    ),
    *(
        "{} ms",
        "took {}ms",
        "{} tests passed",
        "{} passed in 1.0s",
        "{}/529 files",
        "{} kB",
        "{} MiB/s",
        "{}%",
        "v1.{}.0",
    ),
    *(
        "pid {}",
        "[{}] worker started",
        "{}: worker started",
        "id={}",
        "session-{}",
        "{}",
        "item {} of 9",
        "took {}.5 s",
    ),
    *(
        "commit 5{}abc",
        "@@ -{},7 +1,9 @@",
        "line {}",
        "on line {}",
        "process {} exited",
        "exit code {}1",
        "[{}/600] cc x.c",
    ),
)
"""How numbers stand that are no status."""


@pytest.mark.parametrize("agent", ENDS)
@pytest.mark.parametrize("name", HARMLESS)
def test_other_programs_words_on_standard_error_are_no_failure_of_the_agents(agent, name):
    """ "segfault at 0x40155f" was a refused key, and "file descriptor limit reached" a used-up quota."""
    misread = [line for line in HARMLESS[name] if ENDS[agent](line).kind is not FailureClass.CRASH]
    assert misread == []
    assert ENDS[agent]("\n".join(HARMLESS[name])).kind is FailureClass.CRASH


@pytest.mark.parametrize("agent", WORDINGS)
@pytest.mark.parametrize("name", sorted(HARMLESS.keys() - {"network"}))
def test_what_only_looks_like_a_failure_is_none_as_an_error_either(agent, name):
    """ "socket" was an overloaded server, "safety" a refusal, "src/x.rs:503" an overload."""
    assert [line for line in HARMLESS[name] if WORDINGS[agent].of_error(line) is not None] == []


def test_the_catalogue_is_a_catalogue():
    """Several hundred lines, no two the same, with the words and numbers in them that could be misread."""
    lines = [line for lines in HARMLESS.values() for line in lines]
    assert len(set(lines)) == len(lines) >= 450
    for word in (
        "401",
        "403",
        "429",
        "503",
        "529",
        "socket",
        "safety",
        "quota",
        "overload",
        "limit",
        "auth",
        "context",
    ):
        assert sum(word in line.lower() for line in lines) >= 5, word


@pytest.mark.parametrize("agent", WORDINGS)
@pytest.mark.parametrize(("kind", "text"), VENDORS)
def test_a_vendors_words_are_read_whoever_hands_them_on(agent, kind, text):
    assert WORDINGS[agent].of_error(text) is kind
    assert WORDINGS[agent].of_stderr(f"starting\n{text}\ndone") is kind


@pytest.mark.parametrize("kind", [LIMIT, AUTH, OVERLOAD, CONTEXT, REFUSAL])
def test_what_programs_have_written_is_read(kind):
    lines = [line.split(" ", 2) for line in TOLD if line.startswith(f"{kind.name} ")]
    assert len(lines) >= 10
    read = [(agent, text, WORDINGS[agent].of_error(text)) for _, agent, text in lines]
    assert [told for told in read if told[2] is not kind] == []


@pytest.mark.parametrize(("kind", "text"), OWN_ERRORS)
def test_an_error_of_the_agents_own_is_believed_where_a_line_of_standard_error_is_not(kind, text):
    assert acp.WORDING.of_error(text) is kind


@given(st.sampled_from(COUNTED), NUMBERS)
def test_a_number_is_a_status_only_beside_a_status_word(form, number):
    line = form.format(number)
    assert {wording.of_error(line) for wording in WORDINGS.values()} == {None}
    assert {wording.of_stderr(line) for wording in WORDINGS.values()} == {None}


@given(
    st.sampled_from(sorted(TYPES)),
    st.sampled_from(["{}s", "my_{}", "{}_count", "x.{}", "{}()", "a {} b", "/{}/"]),
)
def test_a_type_is_a_whole_identifier_at_a_beginning(name, form):
    assert acp.WORDING.of_error(form.format(name)) is None


@given(
    st.sampled_from([text for _, text in VENDORS]),
    st.sampled_from(
        ["we handle ", "the test expects ", "when ", "see: ", "+ ", "x = '", "assert said == '", "grep: "]
    ),
)
def test_a_phrase_within_a_sentence_says_nothing_on_standard_error(text, before):
    """Whoever talks about a failure has none."""
    assert acp.WORDING.of_stderr(before + text) is None


@given(
    st.lists(st.sampled_from([*"4290 :.{}[]'\"\n", "error", "Error: ", '{"error":', "status "])).map("".join)
)
def test_any_text_is_read_without_raising(text):
    for wording in WORDINGS.values():
        wording.of_error(text)
        wording.of_stderr(text)


@pytest.mark.parametrize("agent", ENDS)
@pytest.mark.parametrize(
    "said",
    [
        "error: unknown option '--x'",
        "error: unexpected argument '--x' found\n\n  tip: y",
        "Options:\n  -h\n\nUnknown argument: x",
        "\n  \nUnknown option '-x'. To specify a positional argument, place it at the end",
    ],
)
def test_a_program_too_old_for_its_options_is_told_to_be_updated(agent, said):
    """As Claude Code, Codex and Copilot, and Gemini CLI say it; nothing told that hub's own options were meant."""
    failure = ENDS[agent](said)
    assert failure.kind is FailureClass.CRASH
    assert "update it" in failure.text
    assert "update it" not in ENDS[agent](f"the test has an {said}".replace("\n", " ")).text


@pytest.mark.parametrize("agent", ENDS)
@pytest.mark.parametrize(
    "said",
    [
        "Unexpected arguments to function foo()",
        "building\nunknown option: --foo",
        "unknown option: --foo from make",
        "Unknown argument: x\n\ndone",
        "error: unexpected argument found",
        "Unknown option handling-mode",
    ],
)
def test_what_another_program_refuses_is_no_option_of_hubs(agent, said):
    """Whatever a program said of its own before it crashed sent the user to the agent's `args`."""
    assert "update it" not in ENDS[agent](said).text


def test_a_long_text_is_read_in_its_end():
    """The cause stands last, and nobody waits for the rest."""
    assert acp.WORDING.of_stderr("x\n" * 100_000 + "Not logged in") is AUTH
    assert acp.WORDING.of_stderr("Not logged in\n" + "x\n" * 100_000) is None
    assert acp.WORDING.of_error("{" * 100_000) is None


def test_every_reason_is_spelled_as_vendors_spell_it():
    """`REASONS` is a pattern of whole phrases."""
    assert all(
        re.fullmatch(REASONS, said) for said in ("Too Many Requests", "Gateway Timeout", "Gateway Time-out")
    )
