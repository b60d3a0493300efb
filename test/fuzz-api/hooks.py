"""What the fuzzer must know beside the document: its key, and what only the state can decide."""

import json
import os
import threading
import time
import urllib.error
import urllib.request

import schemathesis
from schemathesis.specs.openapi import checks

ADDRESS = os.environ["FUZZ_ADDRESS"]
OPERATOR = {
    "Authorization": "Bearer " + os.environ["FUZZ_OPERATOR_TOKEN"],
    "Keyhook-Account": os.environ["FUZZ_ACCOUNT"],
    "Content-Type": "application/json",
}
with open(os.environ["FUZZ_STATE_ONLY"], encoding="utf-8") as table:
    STATE_ONLY = json.load(table)


@schemathesis.auth()
class Key:
    """A key of `*:*`. The fuzzer revokes and narrows keys, its own too: then it needs another."""

    lock = threading.Lock()
    value = None

    def get(self, case, ctx):
        with Key.lock:
            if Key.value is None or not self.holds_all(Key.value):
                Key.value = self.mint()
            return Key.value

    def set(self, case, data, ctx):
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}

    def holds_all(self, value):
        request = urllib.request.Request(
            ADDRESS + "/v1/keys/self", headers={"Authorization": f"Bearer {value}"}
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                own = json.load(response)
            return own["effective_scopes"] == ["*:*"] and own["expires_at"] is None
        except urllib.error.HTTPError:
            return False

    def mint(self):
        body = json.dumps({"name": "fuzzer", "scopes": ["*:*"]}).encode()
        request = urllib.request.Request(ADDRESS + "/v1/keys", body, OPERATOR)
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)["key"]


UPLOADED = [
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "text/html",
    "text/markdown",
    "text/csv",
    "text/tab-separated-values",
]


@schemathesis.serializer(*UPLOADED)
def as_bytes(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode()


def refusal_of(response):
    if response.status_code < 400:
        return None
    try:
        return response.json()["error"]
    except (ValueError, KeyError, TypeError):
        return None


def is_decided_by_state(case, error):
    operation = case.operation.definition.raw.get("operationId")
    found = [error, *error.get("errors", [])]
    return any(
        row["code"] == one["code"]
        and row.get("operation", operation) == operation
        and one.get("location", "").startswith(row.get("location", ""))
        for row in STATE_ONLY
        for one in found
    )


@schemathesis.check
def no_server_error(ctx, response, case):
    """501 says what this installation is set up without, and is documented where it can occur."""
    if response.status_code >= 500 and response.status_code != 501:
        raise AssertionError(f"Server error: {response.status_code}")


@schemathesis.check
def accepts_what_the_document_allows(ctx, response, case):
    error = refusal_of(response)
    if error is not None and is_decided_by_state(case, error):
        return None
    return checks.positive_data_acceptance(ctx, response, case)


@schemathesis.check
def refuses_what_the_document_forbids(ctx, response, case):
    # The answer to a batch is a list: each of its events is refused by itself.
    if case.operation.definition.raw.get("operationId") == "events.publish" and response.status_code == 202:
        results = response.json().get("data", [])
        if any(one["status"] == "refused" for one in results):
            return None
    # What is too large, or of another type, is refused before it is read.
    if response.status_code in (413, 415, 409, 429):
        return None
    return checks.negative_data_rejection(ctx, response, case)
