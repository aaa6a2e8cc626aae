"""The copilot agent."""
