"""How much of the truth a handoff carries: the facts of the log, and the contract's score."""
