"""The approvals: what waits for a person, and the one answer of each."""
