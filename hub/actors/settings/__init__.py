"""The settings actor and its parts: who writes, who asks the programs, and how both are told."""
