"""The aider agent."""
