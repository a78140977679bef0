"""What an application uses: a client for the Gateway."""
