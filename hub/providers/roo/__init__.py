"""The roo agent."""
