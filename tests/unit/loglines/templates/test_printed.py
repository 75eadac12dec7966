"""Values as Scala and Java print them."""

from __future__ import annotations

import pytest

from transforms.loglines.templates.printed import collection, member, member_ids, option


@pytest.mark.parametrize("text", ["None", "null", "Optional.empty"])
def test_nothing_is_nothing(text: str) -> None:
    assert option(text) is None


@pytest.mark.parametrize("text", ["Some(a (b))", "Optional[a (b)]", "a (b)"])
def test_what_an_option_holds_may_look_like_one(text: str) -> None:
    assert option(text) == "a (b)"


@pytest.mark.parametrize("text", ["Set(a, b)", "HashSet(a, b)", "[a, b]", "(a, b)", "{a=[B@1f, b=[B@2e}", "a, b"])
def test_elements_come_in_order(text: str) -> None:
    assert collection(text) == ["a", "b"]


@pytest.mark.parametrize("text", ["Set()", "[]", "{}", ""])
def test_a_collection_may_be_empty(text: str) -> None:
    assert collection(text) == []


def test_members_are_read_as_scala_and_as_java_print_them() -> None:
    assert member("MemberMetadata(memberId=m, groupInstanceId=Some(i), clientId=a, b, supportedProtocols=List(x))") == {
        "memberId": "m",
        "groupInstanceId": "i",
        "clientId": "a, b",
        "supportedProtocols": "List(x)",
    }
    assert member("ClassicGroupMember(memberId='m', groupInstanceId='null', clientId='a=b')") == {
        "memberId": "m",
        "groupInstanceId": None,
        "clientId": "a=b",
    }


@pytest.mark.parametrize("text", ["m", "Member(m)", "Member(xmemberId=m)", "memberId=", "memberId=m)", ""])
def test_a_member_that_is_printed_otherwise_is_its_text(text: str) -> None:
    assert member(text) == {"memberId": text}


def test_a_member_id_may_run_over_several_lines() -> None:
    assert member("MemberMetadata(memberId=a\nb-1, clientId=c)") == {"memberId": "a\nb-1", "clientId": "c"}


ONE, OTHER = "svc, eu-11111111-2222-3333-4444-555555555555", "b-66666666-7777-8888-9999-000000000000"


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (f"({ONE})", [ONE]),
        (f"HashSet({OTHER}, {ONE}, {OTHER})", [OTHER, ONE, OTHER]),
        (f"({ONE}, x, y)", [ONE, "x, y"]),
        ("(a-1, b-1)", ["a-1", "b-1"]),
        ("()", []),
    ],
)
def test_the_name_of_a_client_may_hold_a_comma(text: str, ids: list[str]) -> None:
    assert member_ids(text) == ids
