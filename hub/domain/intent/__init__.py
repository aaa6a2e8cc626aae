"""What an agent is after: its plan, its decisions, its failures and what comes next, out of what it does and says."""
