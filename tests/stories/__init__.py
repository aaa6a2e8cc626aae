"""Ten stories told to a real daemon, and what every route, command and frame says of them: the same after a rebuild.

`nox -s stories` tells them and compares with what is kept here; `nox -s stories -- --write` keeps what is said now, so that
a change of what users see is a change of `kept/` that can be read.
"""
