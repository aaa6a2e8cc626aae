"""What actors share: one way to tell the logs, to follow one, to wait, and to call somebody who may be restarting."""
