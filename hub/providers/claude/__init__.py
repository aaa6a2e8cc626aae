"""The claude agent."""
