"""Time as text, for records that people read.

Owns: the name under which actors know the one timestamp format.
Must not: read a clock.
"""

from hub.domain.wallclock import iso as iso  # noqa: PLC0414  # the actors' own name for it
