"""Why Copilot CLI stopped: the words of its own making -> failure class.

Owns: the table of those words.
Must not: repeat what vendors say (`hub.providers.vendors`).

The words of GitHub's own limits were read in the program, not seen: they need an account.
"""

from hub.domain.failure import FailureClass
from hub.domain.wallclock import HERE
from hub.providers.wording import Wording

WORDING = Wording(
    (
        (
            FailureClass.AUTH,
            (
                r"Authentication failed with provider|No authentication information (?:was )?found|Not authenticated\b"
                r"|Access denied by policy settings"
            ),
        ),
        (
            FailureClass.USAGE_LIMIT,
            r"You(?:'ve| have) (?:exceeded|used|run out of) (?:all |the |your )*(?:quota|premium requests?)",
        ),
        # What it was told last stands behind that, and says more.
        (
            FailureClass.OVERLOAD,
            r"Failed to get response from the AI model(?!.*Last error: (?!Unknown error))",
        ),
    ),
    leads=r"(?:Last error|Execution failed|Model call failed|CAPIError): ",  # what the vendor said last comes behind it
    zone=HERE,
)
