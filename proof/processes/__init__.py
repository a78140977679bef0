"""Our own processes killed, frozen, stopped and started wrongly."""
