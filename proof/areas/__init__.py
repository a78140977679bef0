"""One file per area of the proof: what is provoked, and what must hold afterwards."""
