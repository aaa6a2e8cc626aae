"""What model vendors say when they do not answer: HTTP statuses, names of error types, phrases -> failure class.

Owns: the three tables. They hold for every agent, for most hand on what their vendor said.
Must not: know where in a text such words mean something (`hub.providers.wording` does), or one agent's own words.

Each phrase is the beginning of a sentence that reports the failure. Where it may also be the subject of a sentence about
something else ("Invalid API key is rejected by the new test"), it ends with `END`: nothing but punctuation may follow.

Tests: tests/hub/providers/test_wording.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hub.domain.failure import FailureClass

USAGE_LIMIT = FailureClass.USAGE_LIMIT
OVERLOAD = FailureClass.OVERLOAD
AUTH = FailureClass.AUTH
CONTEXT = FailureClass.CONTEXT_OVERFLOW
REFUSAL = FailureClass.REFUSAL

Phrases = Sequence[tuple[FailureClass, str]]

STATUSES: Mapping[int, FailureClass] = {
    401: AUTH,
    402: USAGE_LIMIT,
    403: AUTH,
    413: CONTEXT,
    429: USAGE_LIMIT,
}
SERVER_ERRORS = range(500, 600)
REASONS = (
    r"(?:Too Many Requests|Unauthorized|Forbidden|Payment Required|Insufficient Balance|Overloaded|Bad Gateway"
    r"|(?:Request Entity|Payload|Content) Too Large|Service (?:Temporarily )?Unavailable|Internal Server Error"
    r"|Gateway Time-?out|Site is overloaded)"
)
"""The words that stand beside a status."""


def types(*named: tuple[FailureClass, str]) -> Mapping[str, FailureClass]:
    """Identifiers with their classes, from those of each class in one text."""
    return {name: kind for kind, names in named for name in names.split()}


TYPES = types(
    (
        USAGE_LIMIT,
        """
        rate_limit_error rate_limit_exceeded rate_limit_reached usage_limit_reached usage_limit_exceeded
        usage_not_included insufficient_quota insufficient_credits insufficient_balance quota_exceeded
        billing_error billing_not_active too_many_requests billing_hard_limit_reached RESOURCE_EXHAUSTED
        RATE_LIMIT_EXCEEDED QUOTA_EXCEEDED RateLimitError RouterRateLimitError BudgetExceededError
        TerminalQuotaError RetryableQuotaError ThrottlingException ServiceQuotaExceededException
        ResourceExhausted rate_limited rate_limit_reached_error exceeded_current_quota_error budget_exceeded
        Throttling.RateQuota Throttling.AllocationQuota QUOTA_EXHAUSTED INSUFFICIENT_G1_CREDITS_BALANCE
        overage_limit_reached additional_spend_limit_reached user_weekly_rate_limited user_global_rate_limited
        user_model_rate_limited integration_rate_limited free_quota_exceeded session_quota_exceeded
        FreeUsageLimitError GoUsageLimitError CreditsError
        """,
    ),
    (
        OVERLOAD,
        """
        overloaded_error server_is_overloaded server_overloaded engine_overloaded slow_down service_unavailable
        timeout_error UNAVAILABLE DEADLINE_EXCEEDED MODEL_CAPACITY_EXHAUSTED MODEL_CAPACITY_EXCEEDED
        InternalServerError ServiceUnavailableError BadGatewayError OverloadedError APIConnectionError
        APIConnectionTimeoutError APITimeoutError server_error ServiceUnavailableException
        InternalServerException ModelTimeoutException ModelNotReadyException ServiceUnavailable DeadlineExceeded
        service_unavailable_error
        """,
    ),
    (
        AUTH,
        """
        authentication_error authentication_failed permission_error invalid_api_key account_deactivated
        invalid_grant UNAUTHENTICATED PERMISSION_DENIED API_KEY_INVALID AuthenticationError
        PermissionDeniedError ProviderAuthError ProviderInitError AccessDeniedException
        UnrecognizedClientException ExpiredTokenException NoCredentialsError CredentialsProviderError
        DefaultCredentialsError Unauthenticated
        """,
    ),
    (
        CONTEXT,
        """
        context_length_exceeded context_window_exceeded request_too_large prompt_too_long
        ContextWindowExceededError ContextOverflowError MessageOutputLengthError
        """,
    ),
    (
        REFUSAL,
        """
        content_filter content_policy_violation PROHIBITED_CONTENT RECITATION cyber_policy bio_policy
        data_inspection_failed ContentPolicyViolationError ContentFilterError ResponsibleAIPolicyViolation
        """,
    ),
)
"""Whole identifiers, in the case their makers write them."""

END = r"(?!, so\b)(?=\s*(?:\Z|[\n.,;:!?|\u00b7\u2219)\[\]{}\"'`\u2026\u2013\u2014-])|\s\()"
_ON = (
    rf"(?:{END}|(?= (?:(?:on|for) (?:(?:your|the|this) |(?:now|\d{{1,2}}[ -]hours?|(?:model|organization) \S{{1,60}}){END})"
    rf"|until \S{{1,24}}{END}|because|please|try again|with other requests)))"
)
_YOUR = r"(?:(?:your|the|this|an?) )?(?:[\w./-]{1,40} )?"
_KINDS = (
    r"(?:usage|free(?: tier)?|rate|quota|requests?|token|spend(?:ing)?|session|daily|weekly|monthly|5[- ]hour"
    r"|premium request)"
)
_MODEL = (
    r"(?:(?:the|this|our|your|selected) )?(?:[\w./-]{1,40} )?(?:model|servers?|service|engine|provider|api)"
    r" (?:is|are) (?:currently |temporarily )?"
)

CAPACITY = (
    r"you(?:'ve| have) exhausted your capacity(?! on this model\. your quota\b)"
    rf"|(?:no|model) capacity (?:is )?(?:exceeded|exhausted|available)(?:{_ON}|(?= for model))"
    rf"|capacity exceeded{END}|{_MODEL}(?:overloaded|at capacity){_ON}|overloaded{END}"
    rf"|server is temporarily limiting requests{END}"
)
"""A server without room answers 429 as a quota does, but nothing of the user's is used up."""

USED_UP = (
    r"you exceeded your current quota|(?:sorry, )?you(?: \(\S+\))?(?:'ve| have)? "
    r"(?:hit|reached|exceeded|exhausted|used(?: up| all)?(?: of)?) (?:your (?!context )(?:[\w.'-]{1,24} ){0,5}?"
    r"|this model's (?:(?:usage|rate|quota|request|daily|weekly|monthly|session|free|\d+[- ]hour) ){0,3})"
    r"(?:limits?|quota|allowance|credits?|spend cap|budget)\b|you have no quota\b"
    r"|you(?:'ve| have) run out of (?:\w+ ){0,2}?(?:credits?|quota|tokens|requests)\b"
    rf"|(?:you (?:don't|do not) have enough|not enough) credits\b"
    r"|your (?:\w+ ){0,2}?(?:credits?|quota|balance) (?:have|has|is|are) (?:been )?(?:used up|exhausted|depleted)\b"
    r"|your (?:account|key|organization|plan|subscription|team|workspace)(?: [\w-]{1,64})? has (?:either )?"
    r"(?:reached|exceeded|hit|exhausted|used(?: up| all)?) (?:its|available) (?:[\w.'-]{1,24} ){0,4}?"
    r"(?:limits?|quota|allowance|credits?)\b"
    r"|(?:(?:claude|ai|codex|free|your|the|daily|weekly|monthly|5[- ]hour|additional|account) ){0,3}usage "
    rf"(?:limit (?:has been |is |was )?(?:reached|exceeded)|exceeded){_ON}|usage limit{END}"
    r"|(?:(?:free|tier|allocated|daily|weekly|monthly|current|token|model|oauth|qwen|your|the) ){0,4}quota "
    rf"(?:has been |is )?(?:(?:exceeded|exhausted|used up){_ON}|exceeded for (?:(?:quota )?metric|\w+\.googleapis\.com/))"
    rf"|insufficient (?:quota|balance|credits?|funds)(?:{_ON}|(?= or no\b))|(?:your )?(?:credit )?balance is too low"
    rf"|(?:you are |you're |your \w{{1,24}} is )?out of (?:(?:\w+ )?credits?|extra usage){_ON}"
    rf"|this request requires more credits\b|key limit exceeded{END}|payment required{END}"
    rf"|(?:\w+ )?budget has been exceeded{_ON}|your free (?:trial|tier) has (?:ended|expired){END}"
)
"""Words that say it: no short wait brings it back."""

PHRASES: Phrases = (
    (USAGE_LIMIT, USED_UP),
    (
        USAGE_LIMIT,
        (
            r"this request would exceed your (?:[\w']{1,24} ){1,3}?limit"
            rf"|(?:(?:your|the|api|claude|opus|sonnet|codex|model|account|organization|{_KINDS}) )?{_KINDS}"
            r"[ _](?:limit|cap) (?:has been |is |was )?"
            rf"(?:(?:reached|exceeded|hit)(?:{_ON}|(?= resets \d\d?(?::\d\d| ?[ap]m\b)))"
            rf"|reached for requests{END}|reached for (?:model )?\S{{1,60}} (?:in organization|on (?:requests|tokens)))"
            r"|you have exceeded a secondary rate limit\b|api rate limit exceeded for (?:user|installation|site) id\b"
            r"|(?:sorry, )?you(?:'ve| have)? hit a rate limit\b"
            rf"|(?:sorry, )?you(?:'ve| have)? (?:been|are|were) (?:being )?rate[- ]limited|too many requests{END}"
            r"|resource has been exhausted \(e\.g\. check quota\)"
        ),
    ),
    (
        AUTH,
        (
            rf"{_YOUR}api[ _-]?key (?:(?:is|was|has) )?(?:not (?:valid|configured|found|set)|missing|invalid|expired"
            rf"|required|been (?:revoked|disabled))(?:{END}|(?= or\b))"
            rf"|(?:an? )?(?:incorrect|invalid|missing|expired) (?:x-)?api[ _-]?key(?:{END}|(?= (?:provided|for)\b))"
            r"|no api[ _-]?key (?:found|configured|set|(?:was )?provided)|the api_key client option must be set"
            r"|the \w{1,40}(?:KEY|TOKEN) environment variable is (?:missing|not set|empty)"
            r"|could not resolve authentication method|could not load (?:the default )?credentials\b"
            r"|failed to (?:sign|log) ?in\. message:"
            r"|your default credentials were not found|the security token included in the request is (?:invalid|expired)"
            rf"|(?:you are |you're )?not (?:(?:logged|signed) in|authenticated){END}"
            rf"|you must be (?:logged|signed) in(?:{END}|(?= to (?:use|run|continue)\b))"
            rf"|please (?:run /login|(?:log ?in|sign ?in)(?: again| to continue)?){END}"
            rf"|(?:log|sign) ?in (?:is )?required{END}"
            r"|(?:your )?(?:oauth|access|refresh|auth(?:entication)?) token (?:(?:has|is|was|could) )?(?:been )?"
            r"(?:(?:invalid or )?expired|revoked|invalidated|not be refreshed|already been used to generate)"
            rf"|(?:the )?request had invalid authentication credentials|invalid (?:bearer token|auth method){END}"
            r"|(?:your|this) (?:organization|account) (?:has been disabled|does not have access to)"
            r"|no cookie auth credentials found|invalid access token or token expired"
        ),
    ),
    (
        CONTEXT,
        (
            rf"(?:your |the )?(?:prompt|conversation|context) is too (?:long|large)(?:{_ON}|(?= to send))"
            r"|(?:this|the) (?:model's|endpoint's) maximum context length|maximum context length is"
            r"|requested token count exceeds the model's maximum context length"
            r"|(?:input|prompt) is too long for (?:the )?requested model"
            r"|input length and `?max_tokens`? exceed context limit|the request exceeds the available context size"
            r"|(?:your |the )?input (?:token count .{0,24}exceeds|exceeds the (?:maximum|context))"
            rf"|(?:the )?(?:maximum )?context (?:length|window|limit) (?:(?:has been|was|is) )?"
            rf"(?:exceeded|reached|full){_ON}"
            r"|request too large for \S{1,60} in organization"
            r"|you(?:'ve| have)? (?:hit|reached|exceeded) (?:your|the|this model's) (?:maximum )?(?:(?:input|output) )?"
            rf"(?:context(?: window| length)?|tokens?) limit(?:{END}|(?= of \d))"
        ),
    ),
    (
        REFUSAL,
        (
            r"[\w. -]{1,40}'s (?:safeguards|safety filters) flagged this"
            r"|(?:invalid prompt: )?(?:your|the|this) (?:request|prompt|input|message|response|output|content) "
            r"(?:was|has been) (?:flagged|blocked|filtered|rejected) (?:by (?:our|the|a)|as|for|due to) (?:[\w']+ ){0,5}?"
            r"(?:content|safety|policy|filter|safeguards?|moderation|potentially|prohibited|recitation|cyber\w*|biological)"
            r"|(?:the )?(?:model )?(?:prompt|response|candidate|content) (?:was )?(?:blocked|stopped) due to:? (?:the |a )?"
            r"(?:safety|prohibited(?:_content)?|recitation|blocklist|spii|image_safety|language|other)\b"
            r"|(?:request|prompt|response|output) (?:was )?blocked by content (?:filter(?:ing)?|moderation)\b"
            r"|(?:the )?response was filtered by the responsible ai service|sorry, the response matched public code"
            r"|(?:input|output) (?:text )?data may contain inappropriate content|content exists risk"
            r"|the request was rejected because it was considered high risk"
            r"|(?:this |your )?(?:request |prompt )?(?:appears to )?violat(?:es|ed|ing) (?:our|\w{1,20}'s) "
            r"(?:usage|content|acceptable use) polic|the model refused to (?:answer|respond|go on)"
        ),
    ),
    (
        OVERLOAD,
        (
            rf"{_MODEL}(?:unavailable|under high load|experiencing high demand){_ON}"
            r"|we(?:'re| are) (?:currently )?experiencing high demand|\w{1,24} API returned a server error"
        ),
    ),
)
"""What is said of the user's own account and model: it is believed on standard error too."""

_FIRST = r"(?:\A|(?<=CallError: )|(?<=APIError: ))"
"""Where a word alone is the whole error: behind the name that a model's library gives every one, too."""
GENERAL: Phrases = (
    (
        AUTH,
        (
            rf"{_FIRST}(?:(?:authentication (?:required|failed|fails)|invalid authentication|unauthori[sz]ed"
            rf"|(?:invalid|missing|no|bad) credentials|invalid (?:api )?token|token expired"
            rf"|the caller does not have permission){END}"
            r"|(?:oauth )?token refresh failed\b|could not validate credentials"
            r"|permission denied on resource\b|(?:invalid_grant: )?token has been expired or revoked)"
        ),
    ),
    (USAGE_LIMIT, rf"{_FIRST}(?:(?:you (?:are|were) )?rate[- ]limited{END}|request was throttled\b)"),
    (AUTH, r"code = (?:Unauthenticated|PermissionDenied) desc = "),
    (
        OVERLOAD,
        (
            r"(?:connection error|bad gateway|gateway time-?out|internal server error"
            r"|(?:unable to|cannot|could not|failed to) connect(?: to (?:api|all addresses))?"
            r"|(?:the )?(?:request|operation|connection) timed out"
            r"|connection (?:refused|reset|failed|closed)(?: by peer| mid-response)?"
            r"|(?:\[Errno \d+\] )connection refused|(?:connect|headers|body) timeout error|the read operation timed out"
            r"|network error|tls handshake timeout|upstream request timeout|no healthy upstream|other side closed"
            r"|premature close|context deadline exceeded|timeout of \d+ms exceeded"
            r"|(?:server|provider|service) (?:is )?(?:too )?busy"
            r"|the socket connection was closed unexpectedly|an internal error has occurred|internal error encountered"
            r"|deadline expired before operation could complete"
            rf"|(?:the )?service (?:is )?(?:temporarily |currently )?unavailable){_ON}|fetch failed\b"
            r"|socket hang up\b|upstream (?:connect error|overloaded)\b|peer closed connection\b|write EPIPE\b"
            r"|client network socket disconnected\b|could not connect to \w+ app\b"
            r"|dial tcp\b|https?ConnectionPool\(host='api\.|code = (?:Unavailable|DeadlineExceeded) desc = "
            r"|(?:httpx|httpcore|aiohttp|requests|urllib3)\.(?:[a-z_]+\.)?\w*(?:Connect|Connection|Connector|Read|Write|Pool"
            rf"|Protocol)(?:Error|Timeout){END}"
            r"|the server had an error (?:while )?processing|net::ERR_\w+"
            r"|connect (?:ECONNREFUSED|ETIMEDOUT|E(?:NET|HOST)UNREACH)\b|read ECONNRESET\b|getaddrinfo E[A-Z_]+\b"
        ),
    ),
)
"""What any program may say of any server: it counts only where an agent gives it as its own error."""


def of_status(status: int) -> FailureClass | None:
    """The class of an HTTP status; None for one that tells nothing of the account or the server."""
    return STATUSES.get(status) or (OVERLOAD if status in SERVER_ERRORS else None)
