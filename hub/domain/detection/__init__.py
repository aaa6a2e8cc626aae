"""What other programs do on this machine: their processes, their sessions, and what an adopted one becomes."""
