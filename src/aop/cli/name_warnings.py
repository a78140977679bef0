"""What in the names of an Agent may mislead, told to whoever is about to trust it."""

import msgspec

from aop.cli.output import Line, styled
from aop.contracts.card import AgentCard
from aop.contracts.catalog import AgentOverview, Resemblance, ResemblingPart
from aop.contracts.text import mixes_scripts


def name_warnings(overview: AgentOverview, card: AgentCard) -> list[Line]:
    found = [] if overview.resembles is msgspec.UNSET else [_resemblance(one) for one in overview.resembles]
    for what, name in (("its name", card.name), ("the name of its owner", card.owner.display_name)):
        if mixes_scripts(name):
            found.append(f"{what}, {name}, mixes letters of scripts that look alike")
    return [styled(("warning  ", "bold yellow"), (text, "yellow")) for text in found]


def _resemblance(one: Resemblance) -> str:
    if one.part is ResemblingPart.NAME:
        return f"{one.text} looks like {one.agent_id} of {one.owner_id}, which was published before it"
    if one.agent_id is msgspec.UNSET:
        return f"the prefix {one.text} is the provider id of {one.owner_id}, not of its owner"
    return f"the prefix {one.text} was used first by {one.owner_id}, in {one.agent_id}, not by its owner"
