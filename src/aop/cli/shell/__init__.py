"""What every command uses: output, options, problems, profiles, the connection to a Gateway."""
