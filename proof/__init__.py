"""The proof: faults, load and hostile input against running units, and a checker that judges what was seen."""
