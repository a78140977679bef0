"""The network policy (contract 5.6): address classes, allow-list, mixed answers."""

import json
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aop.net.policy
from aop.base import assets
from aop.net.origin import Endpoint, InvalidEndpoint
from aop.net.policy import AddressClass, AddressRefused, AllowList, NameNotResolved, classify, judge
from tests.support.every import every

LOCAL = "127.0.0.0/8 ::1/128 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 fe80::/10 fc00::/7"
NEVER = (
    "0.0.0.0/8 0.0.0.0/32 100.64.0.0/10 192.0.0.0/24 192.0.0.0/29 192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 "
    "192.0.0.170/32 192.0.0.171/32 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 192.31.196.0/24 192.175.48.0/24 "
    "192.52.193.0/24 192.88.99.0/24 192.88.99.2/32 198.18.0.0/15 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32 "
    "::/128 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 "
    "2001:1::1/128 2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 "
    "2001:30::/28 2001:db8::/32 3fff::/20 2002::/16 2620:4f:8000::/48 5f00::/16 fec0::/10 ff00::/8"
)
# The addresses right before and right behind each range that are not special themselves.
PUBLIC_NEIGHBOURS = (
    "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 "
    "169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0 192.31.195.255 "
    "192.31.197.0 192.52.192.255 192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 "
    "192.175.47.255 192.175.49.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 "
    "223.255.255.255 8.8.8.8 2000:: 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2001:200:: "
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9:: 2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2003:: "
    "2620:4f:7fff:ffff:ffff:ffff:ffff:ffff 2620:4f:8001:: 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000:: "
    "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2606:4700::1111"
)
UNASSIGNED = (
    "::2 ::1:0:0 100:0:0:2:: 200:: 400:: 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 4000:: 5eff:: 5f01:: 6000:: "
    "8000:: a000:: c000:: e000:: f000:: f800:: fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe00:: "
    "fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff 64:ff9b:0:0:0:1:: 64:ff9b:2:: 64:ff9a:: 1:: 99:: 101::"
)
EMBEDDED_IPV4 = (
    "::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 ::8.8.8.8 ::ffff:0:8.8.8.8 64:ff9b::8.8.8.8 64:ff9b::7f00:1 "
    "64:ff9b:1::808:808 2002:808:808:: 2002:7f00:1:: 2001:0:808:808::f7f7:f7f7 ::2"
)
NOBODY = AllowList.parse([])
HTTPS = Endpoint.parse("https://agent.example/")
HTTP = Endpoint.parse("http://agent.example/")
PUBLIC, OTHER_PUBLIC, LOOPBACK, PRIVATE = "8.8.8.8", "2606:4700::1111", "127.0.0.1", "10.1.2.3"


def edges(ranges: str) -> list[str]:
    networks = [ip_network(text) for text in ranges.split()]
    return [str(edge) for network in networks for edge in (network[0], network[-1])]


def refused(endpoint: Endpoint, addresses: list[str], allow_list: AllowList = NOBODY) -> bool:
    try:
        judge(endpoint, addresses, allow_list)
    except AddressRefused:
        return True
    return False


@pytest.mark.rows("PUB-15")
@every("address", edges(LOCAL))
def test_the_first_and_last_address_of_every_local_range_are_local_and_refused(address: str) -> None:
    assert classify(address) is AddressClass.LOCAL
    assert refused(HTTPS, [address])


@pytest.mark.rows("PUB-15")
@every("address", [*edges(NEVER), *UNASSIGNED.split()])
def test_the_first_and_last_address_of_every_never_range_are_refused_even_when_allow_listed(address: str) -> None:
    assert classify(address) is AddressClass.NEVER
    assert refused(HTTPS, [address])
    assert refused(HTTPS, [address], AllowList.parse(["agent.example"]))


@pytest.mark.rows("PUB-15")
@every("address", EMBEDDED_IPV4.split())
def test_an_address_that_embeds_another_is_never_contacted(address: str) -> None:
    assert classify(address) is AddressClass.NEVER


@every("address", PUBLIC_NEIGHBOURS.split())
def test_the_neighbours_of_the_ranges_are_public(address: str) -> None:
    assert classify(address) is AddressClass.PUBLIC
    assert judge(HTTPS, [address], NOBODY) == address


@every("text", [*LOCAL.split(), *NEVER.split()])
def test_an_address_beside_a_range_has_the_class_of_the_range_it_lies_in_itself(text: str) -> None:
    network = ip_network(text)
    for value in (int(network[0]) - 1, int(network[-1]) + 1):
        if 0 <= value < 2**network.max_prefixlen:
            neighbour = IPv4Address(value) if network.version == 4 else IPv6Address(value)
            assert classify(str(neighbour)) is expected_class(neighbour)


@given(st.ip_addresses())
def test_every_address_has_the_class_the_tables_give_it(address: IPv4Address | IPv6Address) -> None:
    assert classify(str(address)) is expected_class(address)


def expected_class(address: IPv4Address | IPv6Address) -> AddressClass:
    """The tables read one by one, as a person would."""
    if any(address in ip_network(text) for text in LOCAL.split()):
        return AddressClass.LOCAL
    if any(address in ip_network(text) for text in ["::/96", *NEVER.split()]):
        return AddressClass.NEVER
    return AddressClass.PUBLIC if address.version == 4 or address in ip_network("2000::/3") else AddressClass.NEVER


def test_the_address_file_holds_the_rows_of_the_contract_and_names_its_source() -> None:
    tables = json.loads(Path(aop.net.policy.__file__).with_name("addresses.json").read_bytes())
    assert {row["range"] for row in tables["local"]} == set(LOCAL.split())
    assert {row["range"] for row in tables["never"]} == {"::/96", *NEVER.split()}
    assert all(row["what"] for table in ("local", "never", "unicast") for row in tables[table])
    assert "IANA IPv4 Special-Purpose Address Registry" in tables["source"]


def test_a_link_local_address_with_a_zone_is_judged_without_it() -> None:
    assert classify("fe80::1%eth0") is AddressClass.LOCAL
    assert judge(HTTP, ["fe80::1%2"], AllowList.parse(["agent.example"])) == "fe80::1%2"


@pytest.mark.rows("PUB-12b")
def test_a_public_host_is_contacted_over_https_only_unless_allow_listed() -> None:
    assert judge(HTTPS, [PUBLIC], NOBODY) == PUBLIC
    assert refused(HTTP, [PUBLIC])
    assert judge(HTTP, [PUBLIC], AllowList.parse(["agent.example"])) == PUBLIC


@pytest.mark.rows("PUB-16")
@pytest.mark.parametrize(
    ("addresses", "is_refused"),
    [
        ([LOOPBACK], False), ([PRIVATE, LOOPBACK, "::1", "fc00::1", "fe80::1"], False), ([PUBLIC, OTHER_PUBLIC], False),
        ([LOOPBACK, PUBLIC], True), ([PUBLIC, PRIVATE], True), (["0.1.2.3"], True), ([LOOPBACK, "100.64.0.1"], True),
        (["::ffff:127.0.0.1"], True), ([PUBLIC, "192.0.2.1"], True), (["not an address"], True), ([PUBLIC, ""], True),
    ],
)  # fmt: skip
def test_an_allow_listed_host_may_be_local_but_neither_mixed_nor_in_a_never_range(
    addresses: list[str], is_refused: bool
) -> None:
    assert refused(HTTP, addresses, AllowList.parse(["agent.example"])) is is_refused


@pytest.mark.rows("PUB-16")
@every(
    ("entry", "url", "holds"),
    [
        ("agent.example", "http://agent.example/", True), ("agent.example", "http://agent.example:8091/", True),
        ("agent.example:8091", "http://agent.example:8091/", True),
        ("agent.example:8091", "http://agent.example:8092/", False),
        ("agent.example:8091", "http://agent.example/", False), ("agent.example:80", "http://agent.example/", True),
        ("agent.example:443", "http://agent.example/", False), ("agent.example:443", "https://agent.example/", True),
        ("agent.example", "http://sub.agent.example/", False), ("agent.example", "http://agent.example.org/", False),
        ("Agent.Example.", "http://agent.example/", True), ("127.0.0.1", "http://127.0.0.1:1/", True),
        ("127.0.0.1:8091", "http://127.0.0.1:8091/", True), ("127.0.0.1", "http://127.0.0.2/", False),
        ("127.0.0.1", "http://localhost/", False), ("localhost", "http://127.0.0.1/", False),
        ("[::1]", "http://[::1]:9/", True), ("[::1]:9", "http://[::1]:9/", True),
        ("[::1]:9", "http://[::1]:8/", False), ("[0:0:0:0:0:0:0:1]", "http://[::1]/", True),
        ("[::1]", "http://[::2]/", False),
    ],
)  # fmt: skip
def test_an_entry_holds_exactly_its_canonical_host_and_effective_port(entry: str, url: str, holds: bool) -> None:
    endpoint = Endpoint.parse(url)
    assert AllowList.parse(["other.example:1", entry]).holds(endpoint.host, endpoint.port) is holds


@every(
    "entry",
    [
        "", " ", "*", "*.example", ".example", "agent.example:", "agent.example:0", "agent.example:65536",
        "agent.example:x", "agent.example:*", "http://agent.example", "agent.example/", "user@agent.example",
        " agent.example", "agent.example ", "::1", "::1:80", "[::1", "[::1]80", "[::1]:", "[::1]:0", "[fe80::1%eth0]",
        "[127.0.0.1]", "127.1", "0x7f.1", "2130706433", "127.0.0.0/8", "10.0.0.*", "ágent.example", "agent_1", "[]",
        ":80", "agent.example:80:80", "a,b",
    ],
)  # fmt: skip
@pytest.mark.rows("OPS-03")
def test_an_entry_in_any_other_form_is_refused(entry: str) -> None:
    with pytest.raises(InvalidEndpoint):
        AllowList.parse(["agent.example", entry])


def test_one_refused_address_refuses_the_host_and_otherwise_the_first_is_dialed() -> None:
    assert refused(HTTPS, [PUBLIC, LOOPBACK])
    assert refused(HTTPS, [PUBLIC, OTHER_PUBLIC, "224.0.0.1"])
    assert judge(HTTPS, [OTHER_PUBLIC, PUBLIC], NOBODY) == OTHER_PUBLIC
    assert judge(HTTPS, [PUBLIC, OTHER_PUBLIC], NOBODY) == PUBLIC


def test_an_empty_answer_is_no_refusal_but_a_name_that_does_not_resolve() -> None:
    with pytest.raises(NameNotResolved):
        judge(HTTPS, [], NOBODY)


@given(st.lists(st.ip_addresses().map(str), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_a_judgement_depends_on_the_classes_alone_and_dials_the_first(
    addresses: list[str], listed: bool, secure: bool
) -> None:
    classes = {expected_class(ip_address(address)) for address in addresses}
    allowed = {AddressClass.PUBLIC} if listed or secure else set()
    fits = classes <= allowed or (listed and classes == {AddressClass.LOCAL})
    allow_list = AllowList.parse(["agent.example"]) if listed else NOBODY
    assert refused(HTTPS if secure else HTTP, addresses, allow_list) is not fits
    if fits:
        assert judge(HTTPS if secure else HTTP, addresses, allow_list) == addresses[0]


def vectors(table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((assets.folder("contracts") / "vectors" / "network.json").read_bytes())[
        table
    ]
    return found


def decision(case: dict[str, Any]) -> tuple[str, str | None]:
    try:
        address = judge(Endpoint.parse(case["endpoint"]), case["answer"], AllowList.parse(case["allowList"]))
    except (AddressRefused, InvalidEndpoint):
        return "refused", None
    return "allowed", address


@pytest.mark.rows("PUB-15", "PUB-16")
def test_the_network_vectors_of_the_contract_hold() -> None:
    addresses, hosts = vectors("addresses"), vectors("hosts")
    assert addresses
    assert hosts
    assert [row for row in addresses if classify(row["address"]) != row["class"]] == []
    assert [row["name"] for row in hosts if decision(row) != (row["verdict"], row.get("connect"))] == []
