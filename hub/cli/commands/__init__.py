"""The commands: a module for each, or for those of one matter. One is imported when it is asked for."""
