"""SQL of the Workspace module, one file per noun; used by this module alone."""
