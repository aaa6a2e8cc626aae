"""One folder an agent, the same file names in each. Adding an agent is adding a folder."""
