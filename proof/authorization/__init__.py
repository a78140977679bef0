"""The authorization matrix: who may do what, and the world in which every cell of it is tried."""
