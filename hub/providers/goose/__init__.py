"""The goose agent."""
