"""The authorization matrix leaves nothing out: every operation of every document, and every object it names."""

import re

import pytest

from proof.authorization.rules import ABSENT, FOREIGN, RULES, Access
from tests.support.openapi import openapi_operations
from tools.contract_bundle import surfaces

SCHEMES = {"accessToken": {Access.CALLER}, "delegationBearer": {Access.DELEGATION}}
SERVICES = {"control-plane-internal.v1": {Access.ROUTER}, "router-internal.v1": {Access.CONTROL_PLANE}}


@pytest.mark.parametrize("document", sorted(surfaces()))
def test_every_operation_of_the_document_has_its_rule(document: str) -> None:
    assert {" ".join(operation) for operation in openapi_operations(document)} == set(RULES[document])


@pytest.mark.parametrize("document", sorted(surfaces()))
def test_every_identifier_of_a_path_is_tried_in_every_relation(document: str) -> None:
    for operation, rule in RULES[document].items():
        named = set(re.findall(r"\{(\w+)\}", operation))
        assert named <= set(rule.objects), operation
        assert {name for name, _, _ in rule.refusals} <= set(rule.objects), operation
        tried = {(name, relation) for each in rule.combinations() for name, relation in each.items()}
        assert all((name, ABSENT) in tried for name in named), operation
        assert all((name, FOREIGN) in tried for name in named - {"version"}), operation


@pytest.mark.parametrize("document", sorted(surfaces()))
def test_the_table_and_the_document_agree_on_who_is_served(document: str) -> None:
    surface = surfaces()[document]
    for operation, rule in RULES[document].items():
        method, path = operation.split(" ")
        secured = surface["paths"][path][method.lower()].get("security", surface["security"])
        schemes = [name for requirement in secured for name in requirement]
        expected = {Access.ANYONE} if not schemes else SCHEMES.get(schemes[0], SERVICES.get(document))
        assert {rule.access} == expected, operation


@pytest.mark.parametrize("document", sorted(surfaces()))
def test_every_refusal_of_the_table_is_listed_for_its_operation(document: str) -> None:
    surface = surfaces()[document]
    for operation, rule in RULES[document].items():
        method, path = operation.split(" ")
        listed = surface["paths"][path][method.lower()].get("x-codes", [])
        assert {code.partition(" ")[0] for _, _, (_, code) in rule.refusals} <= set(listed), operation
