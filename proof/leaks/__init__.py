"""A canary for every channel and provocation, and every place where one could turn up."""
