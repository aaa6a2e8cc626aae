"""The gemini agent."""
