"""Card rules, vetting of Skill schemas, and what checks of values may cost."""
