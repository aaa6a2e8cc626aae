"""The droid agent."""
