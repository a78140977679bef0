"""What the platform is made of: lock files, bill of materials, what its environment holds, what an import does."""
