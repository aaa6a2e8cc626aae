"""The cline agent."""
