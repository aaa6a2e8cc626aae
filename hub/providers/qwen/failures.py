"""Why Qwen Code stopped: the words of its own making -> failure class.

Owns: the table of those words.
Must not: repeat what vendors say (`hub.providers.vendors`).

Traps: an answer that safeguards blocked is asked for four times more and then told as an empty stream. A quota whose
error tells a reset is told at once ("Quota exhausted: ..."); any other 429 after one round of retries, some 80 to
95 s, and in words that say no more than "Rate limit exceeded. Try again later."
"""

from hub.domain.failure import FailureClass
from hub.providers.wording import Wording

WORDING = Wording(
    (
        (FailureClass.USAGE_LIMIT, r"Quota exhausted: "),
        (
            FailureClass.AUTH,
            r"Qwen OAuth free tier has been discontinued|Please run /auth\b|No auth type is selected",
        ),
        (FailureClass.CONTEXT_OVERFLOW, r"Context is too large to send safely|Session token limit exceeded"),
        (FailureClass.REFUSAL, r"Model stream ended with empty response text"),
        (FailureClass.REFUSAL, r"Model stream ended after a tool result without visible progress"),
        (FailureClass.OVERLOAD, r"Model stream ended without a finish reason|Streaming request timeout"),
    ),
    leads=r"<\d{3}> InternalError\.Algo\.\w+: ",
)
