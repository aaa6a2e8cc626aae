"""The page: what the API answers, as HTML that a browser swaps into place while it follows the event log."""
