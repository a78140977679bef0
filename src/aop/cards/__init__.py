"""Skill schemas: what they may be, what a check of a value can cost, and checks that hold up nobody."""
