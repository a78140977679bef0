"""Query projection of published Cards; reads views and owns no source of truth."""
