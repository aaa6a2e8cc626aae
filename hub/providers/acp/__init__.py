"""The Agent Client Protocol: one fold for every agent that speaks it, and the adapter that needs nothing else."""
