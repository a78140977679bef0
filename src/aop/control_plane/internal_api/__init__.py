"""Routes that the Control Plane serves to Routers: resolve calls and the topology watch."""
