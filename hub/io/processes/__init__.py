"""The machine's processes: who is alive, what they are, how one is started, asked and ended."""
