"""The kimi agent."""
