"""What the Router serves to the Control Plane and to Agents."""
