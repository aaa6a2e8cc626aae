"""What a session may use before its user is asked.

Owns: when that is used up, and the words for it.
Must not: know a price, or ask anybody.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class Budget:
    """The caps of `[session]`; None = any amount."""

    max_cost: float | None = None
    """US dollars."""
    max_tokens: int | None = None

    @property
    def capped(self) -> bool:
        """Whether anything has to be counted."""
        return self.max_cost is not None or self.max_tokens is not None

    def used_up(self, usd: float | None, tokens: int, extended: int) -> str:
        """What is used up, for people; "" = nothing is.

        Args:
            usd: What is known of the cost.
            tokens: In and out.
            extended: How often the user has let the session go on: each time it may use as much again.
        """
        times = extended + 1
        if self.max_cost is not None and usd is not None and usd >= self.max_cost * times:
            return f"{usd:.2f} of {self.max_cost * times:.2f} US dollars are used up (maxCost)"
        if self.max_tokens is not None and tokens >= self.max_tokens * times:
            return f"{tokens:,} of {self.max_tokens * times:,} tokens are used up (maxTokens)"
        return ""
