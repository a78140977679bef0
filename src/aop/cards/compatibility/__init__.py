"""Whether every value that one Skill schema accepts is accepted by another: proved by structure, refuted by example."""
