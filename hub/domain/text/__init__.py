"""Text that hub did not write: made safe, quoted, matched."""
