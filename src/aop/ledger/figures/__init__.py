"""The figures of a Workspace: how many Invocations there were in a window, how they ended, and how long they took."""
