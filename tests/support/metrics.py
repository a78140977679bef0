"""The metrics of a unit, as a scraper reads them."""

from prometheus_client.parser import text_string_to_metric_families

from tests.support.units import RunningUnit


async def numbers(unit: RunningUnit, name: str) -> dict[tuple[str, ...], float]:
    """The series of a metric by their label values, in the order of the labels' names, the unit left out."""
    text = (await unit.get("/metrics")).body.decode()
    return {
        tuple(value for label, value in sorted(sample.labels.items()) if label != "unit"): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }
