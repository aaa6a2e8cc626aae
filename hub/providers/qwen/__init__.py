"""The qwen agent."""
