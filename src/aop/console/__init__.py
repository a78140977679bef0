"""The Console as a unit: serves its built files with this deployment's configuration; the browser calls the Gateway."""
