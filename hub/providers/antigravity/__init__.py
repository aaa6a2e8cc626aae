"""The antigravity agent."""
