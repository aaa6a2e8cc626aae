"""What models show and are shown: the progress of a pull, and images."""
