"""The session actor and its parts.

Inbox (`actor`), durable record (`store`), live facts (`context`), the loop over the handoff table (`driver`) and what each
state does (`work`, `handoff_steps`, `ending`).
"""
