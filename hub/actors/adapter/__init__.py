"""The adapter: one actor a running agent."""
