"""The session actor and its parts.

Inbox (`actor`), durable record (`ledger`), live facts (`board`), the loop over the handoff table (`driver`) and what each
state does (`work`, `passing`, `ending`).
"""
