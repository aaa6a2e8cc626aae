"""The crush agent."""
