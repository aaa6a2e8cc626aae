"""The opencode agent."""
