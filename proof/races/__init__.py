"""Acts that meet: contests over one object through two Control Planes, and callers who come after the last word."""
