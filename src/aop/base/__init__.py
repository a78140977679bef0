"""Neutral building parts that know no noun of the platform; they import nothing else of aop."""
