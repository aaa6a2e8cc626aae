"""The codex agent."""
