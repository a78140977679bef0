"""The Control Plane unit: Gateway, Registry, Discovery, Workspace and Dispatch in one process."""
