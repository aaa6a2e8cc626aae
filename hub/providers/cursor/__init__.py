"""The cursor agent."""
