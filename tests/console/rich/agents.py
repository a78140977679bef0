"""42 Agents of five providers: what they do, in which versions, and what they take. With the samples there are 45."""

from collections.abc import Iterator
from dataclasses import dataclass

from tests.console.playground_states import MANY_KINDS
from tests.console.rich.hostile_cards import HOSTILE
from tests.console.stack import Json

_HISTORIES = (
    ("1.0.0",),
    ("1.0.0", "1.1.0"),
    ("1.0.0", "1.1.0", "2.0.0"),
    ("0.9.0-beta.1", "1.0.0"),
)
LONG_HISTORY = tuple(f"1.{minor}.0" for minor in range(10))

# Provider, the principal who owns it, and how the owner is called.
_PROVIDERS = {
    "acme": ("local", "Acme Research"),
    "northwind": ("local", "Northwind Traders"),
    "globex": ("dora", "Globex Laboratories"),
    "initech": ("peter", "Initech"),
    "mallory": ("mallory", "AOP samples"),
}
_ABILITIES = """
acme translator | Translator | Translates texts between 40 languages and keeps their tone. | translate detect-language
acme sentiment | Sentiment | Tells how customers feel about a product. | judge-sentiment
acme contract-reader | Contract reader | Finds deadlines and unusual clauses in contracts. | read-contract list-clauses
acme invoice-matcher | Invoice matcher | Matches invoices with orders and names what differs. | match-invoice
acme meeting-planner | Meeting planner | Finds a time that suits everybody. | plan-meeting propose-rooms
acme echo | Echo | Says what it was told; for trying a connection. | echo
acme glossary-keeper | Glossary keeper | Keeps the words of a company in one meaning each. | define-word
acme table-reader | Table reader | Reads tables out of scanned pages. | read-table
acme news-watch | News watch | Watches news feeds for the names that matter to you. | watch-news
acme route-finder | Route finder | Finds the cheapest route for a delivery. | find-route estimate-arrival
acme code-reviewer | Code reviewer | Reads a change and names what may break. | review-change
acme release-notes | Release notes | Writes release notes from merged changes. | write-notes
acme image-captions | Image captions | Describes pictures for people who cannot see them. | describe-image
acme tree-walker | Tree walker | Works through a tree of tasks and calls itself for each branch. | walk-tree
northwind price-list | Price list | Answers what a product costs for a customer. | quote-price
northwind stock-keeper | Stock keeper | Knows what is in which warehouse. | count-stock reserve-stock
northwind demand-forecast | Demand forecast | Forecasts how much will be sold next quarter. | forecast-demand
northwind supplier-check | Supplier check | Looks up whether a supplier is reliable. | check-supplier
northwind order-desk | Order desk | Takes orders and follows them up. | take-order follow-order cancel-order
northwind returns | Returns | Decides what happens with goods that come back. | accept-return
northwind customs-papers | Customs papers | Fills in customs papers for 27 countries. | fill-in-papers
northwind shelf-planner | Shelf planner | Plans which product stands where. | plan-shelf
northwind label-printer | Label printer | Prints labels with bar codes. | print-label
northwind cold-chain | Cold chain | Raises an alarm before food gets too warm. | watch-temperature
northwind fleet-desk | Fleet desk | Sends drivers and vans where they are needed. | send-van
globex protein-folder | Protein folder | Predicts the form of a protein from its sequence. | fold-protein
globex paper-search | Paper search | Finds papers by question and not by keyword. | search-papers rank-papers
globex lab-notebook | Lab notebook | Turns notes of an experiment into a protocol. | write-protocol
globex unit-converter | Unit converter | Converts units and refuses what makes no sense. | convert-unit
globex plot-maker | Plot maker | Draws the plot that fits the data. | draw-plot
globex statistics | Statistics | Chooses a test and explains its result in plain words. | choose-test explain-result
globex sample-tracker | Sample tracker | Knows where each sample is and who touched it. | find-sample
globex grant-writer | Grant writer | Drafts applications from earlier ones. | draft-grant
initech report-cover | Report cover | Puts the right cover on a report. | add-cover
initech printer-help | Printer help | Says what the printer means. | explain-error
initech payroll-check | Payroll check | Checks a payroll run before money moves. | check-payroll
initech desk-finder | Desk finder | Finds a free desk near your team. | find-desk
"""
PERMISSIONS = (
    {"id": "text.read", "description": "Reads the text it is given."},
    {"id": "net.egress", "description": "Sends what it was given to services outside of the platform."},
    {"id": "mail.send", "description": "Sends mail in your name."},
)
_STRING: Json = {"type": "string", "minLength": 2, "examples": ["Good morning"]}
_PLAIN: Json = {
    "type": "object",
    "required": ["text"],
    "properties": {
        "text": {
            "type": "string",
            "minLength": 1,
            "title": "What it works on",
            "examples": ["Ships wait. Tea is hot."],
        },
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
    },
}
_OUTPUT: Json = {"type": "object", "properties": {"result": {"type": "string"}, "score": {"type": "number"}}}


@dataclass(frozen=True)
class Offer:
    """One Agent: who offers it, in which versions, and its Card without what the versions differ in."""

    provider: str
    principal: str
    card: Json
    versions: tuple[str, ...]

    @property
    def agent_id(self) -> str:
        return str(self.card["agentId"])

    def version(self, version: str) -> Json:
        """The Card of a version; each second one asks for one permission more."""
        further = self.versions.index(version)
        permissions = list(PERMISSIONS[: 1 + (further + 1) // 2])
        return {"permissions": permissions, **self.card, "version": version}


def offers() -> Iterator[Offer]:
    for place, line in enumerate(_ABILITIES.strip().splitlines()):
        names, name, description, skills = (part.strip() for part in line.split("|"))
        provider, slug = names.split()
        principal, owner = _PROVIDERS[provider]
        card = {
            "agentId": f"{provider}:{slug}",
            "name": name,
            "description": description,
            "owner": {"id": principal, "displayName": owner},
            "skills": [_skill(skill, place + number) for number, skill in enumerate(skills.split())],
        }
        yield Offer(provider, principal, card, LONG_HISTORY if slug == "translator" else _HISTORIES[place % 4])
    for card in HOSTILE:
        principal, owner = _PROVIDERS["mallory"]
        yield Offer("mallory", principal, {"owner": {"id": principal, "displayName": owner}, **card}, ("1.0.0",))


def _skill(skill: str, place: int) -> Json:
    words = skill.replace("-", " ")
    schemas = (_PLAIN, _STRING, MANY_KINDS, big_schema())
    return {
        "id": skill,
        "name": words.capitalize(),
        "description": f"Does what its name says: {words}.",
        "inputSchema": schemas[place % len(schemas)],
        "outputSchema": _OUTPUT,
        "requiredPermissions": ["text.read"],
    }


def big_schema(groups: int = 12, fields: int = 8) -> Json:
    """A form of about a hundred fields in groups, as people generate it from a database."""
    kinds: tuple[Json, ...] = (
        {"type": "string", "maxLength": 200},
        {"type": "integer", "minimum": 0},
        {"type": "boolean"},
        {"enum": ["new", "open", "closed"]},
    )
    group = {f"field{n}": {**kinds[n % 4], "description": f"Column {n} of the table."} for n in range(fields)}
    properties = {f"group{n}": {"type": "object", "title": f"Part {n + 1}", "properties": group} for n in range(groups)}
    return {"type": "object", "required": ["group0"], "properties": properties}
