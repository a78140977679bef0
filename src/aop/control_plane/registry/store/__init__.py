"""SQL of the Registry, one file per noun; used by the Registry alone."""
