"""The pi agent."""
