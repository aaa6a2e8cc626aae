"""The amp agent."""
