"""Pure rules: no Trio, no I/O, no clock, no random. Time and ids come in as values."""
