"""Basic parts without any concept of the platform: JSON, identifiers, versions, settings, loops."""
