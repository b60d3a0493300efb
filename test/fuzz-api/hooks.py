"""What schemathesis does beside the document: who calls, of which records, and what a refusal is excused by."""

import atexit
import json
import os
import re
import threading
import zlib
from collections import Counter

import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.engine.recorder import ScenarioRecorder
from schemathesis.generation.meta import CoverageScenario
from schemathesis.specs.openapi import checks

from world import OWNER, World

world = World(os.environ["FUZZ_ADDRESS"], os.environ["FUZZ_OPERATOR_TOKEN"], os.environ["FUZZ_RECEIVER"])
with open(os.environ["FUZZ_STATE_ONLY"], encoding="utf-8") as table:
    STATE_ONLY = json.load(table)

lock = threading.Lock()
answers = Counter()
checked = Counter()
excused = Counter()
unmade = Counter()


@atexit.register
def write_tally():
    with open(os.environ["FUZZ_TALLY"], "w", encoding="utf-8") as file:
        json.dump({"answers": answers, "checks": checked, "excused": excused, "unmade": unmade}, file)


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


def operation_of(case):
    return case.operation.definition.raw


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


# Values of bodies that only exist where something was created before.
KNOWN = {
    "template_id": lambda: "blank",
    "deployment_id": lambda: world.record("deployment_id"),
    "files": lambda: [world.record("file_id")],
    "url": lambda: world.receiver,
    "events": lambda: ["app.deployed"],
    "types": lambda: ["app.deployed"],
    "scopes": lambda: ["apps:read"],
    "type": lambda: "order.paid",
    "hostname": lambda: f"shop-{sum(answers.values())}.fuzz-keyhook.com",
    "account_id": lambda: world.record("account_id"),
    "email": lambda: OWNER["email"],
    "password": lambda: OWNER["password"],
}
ONLY_IN = {
    "files": {"files.search"},
    "type": {"events.publish"},
    "account_id": {"accounts.create_user"},
    "email": {"accounts.sign_in", "accounts.set_plan"},
    "password": {"accounts.sign_in", "accounts.step_up"},
}
PREPARE = {
    "apps.restore": world.before_restore,
    "deploy.rollback": world.before_rollback,
    "files.retry": world.before_retry,
    "keys.end_previous": world.before_end_previous,
}
# Their answer judges each element by itself.
BATCHES = {"events.publish", "events.publish_batch"}
# It goes on until its reader leaves.
ENDLESS = {"observe.follow_logs"}
LONGEST_WAIT = 1


@schemathesis.hook
def before_call(context, case, kwargs):
    """Signs the request; three of four valid ones name records that exist."""
    with lock:
        operation = operation_of(case)
        if not leaves_credentials_out(case):
            headers = world.headers_for(operation)
            name, _, value = headers.pop("Cookie", "").partition("=")
            case.cookies = {name: value} if name else {}
            case.headers = {**(case.headers or {}), **headers}
        if is_positive(case) and "wait" in (case.query or {}):
            case.query["wait"] = min(int(case.query["wait"]), LONGEST_WAIT)
        if is_positive(case) and "Idempotency-Key" in (case.headers or {}):
            # The generator gives many requests one key, and each but the first would be refused.
            case.headers = {**case.headers, "Idempotency-Key": f"fuzz-{sum(answers.values())}"}
        shown = f"{operation['operationId']} {case.path_parameters!r} {case.query!r} {case.body!r}"
        if operation["operationId"] in ENDLESS and "app_id" in (case.path_parameters or {}):
            case.path_parameters["app_id"] = "none"
        if not is_positive(case) or zlib.crc32(shown.encode("utf-8", "replace")) % 4 == 0:
            return
        name_records(case, operation["operationId"])


CARRIERS = (ParameterLocation.HEADER, ParameterLocation.COOKIE)


def leaves_credentials_out(case):
    """Whether the request is one whose credentials are missing or malformed."""
    if case.meta is None:
        return False
    components = case.meta.components
    if any(place in components and components[place].mode.is_negative for place in CARRIERS):
        return True
    data = case.meta.phase.data
    if getattr(data, "scenario", None) != CoverageScenario.MISSING_PARAMETER:
        return False
    return data.parameter_location in CARRIERS


def name_records(case, operation):
    if operation in PREPARE:
        attempt(operation, PREPARE[operation])
    for name in case.path_parameters or {}:
        if world.knows(name):
            put(case.path_parameters, name, lambda name=name: world.record(name))
    if not isinstance(case.body, dict):
        return
    for name in case.body:
        if name in KNOWN and operation in ONLY_IN.get(name, {operation}):
            put(case.body, name, KNOWN[name])


def put(values, name, make):
    made = attempt(name, make)
    if made is not None:
        values[name] = made


def attempt(name, make):
    try:
        return make()
    except LookupError as cause:
        unmade[f"{name}: {cause.args[-1]}"] += 1
        return None


@schemathesis.hook
def after_call(context, case, response):
    with lock:
        operation = operation_of(case)["operationId"]
        answers[f"{operation} {response.status_code}"] += 1
        if response.status_code in (401, 403):
            world.check_credentials()
        names = [name for name in case.path_parameters or {} if world.knows(name)]
        has_ended = case.method == "DELETE" and response.status_code < 300
        if (has_ended or response.status_code == 404) and names:
            world.forget(names[-1:])
        if response.status_code == 409:
            world.forget(names)


def counted(record):
    """Counts what the recorder of a scenario is told; the fuzzer itself does not say how many checks it ran."""

    def record_and_count(self, *, name, **rest):
        with lock:
            checked[name] += 1
        return record(self, name=name, **rest)

    return record_and_count


for method in ("record_check_success", "record_check_failure"):
    setattr(ScenarioRecorder, method, counted(getattr(ScenarioRecorder, method)))


def refusal_of(response):
    if response.status_code < 400:
        return None
    try:
        return response.json()["error"]
    except (ValueError, KeyError, TypeError):
        return None


def is_at(location, place):
    """Whether a location is a place or lies below it; `[]` is any element."""
    below = re.escape(place).replace(r"\[\]", r"\[\d+\]")
    return re.match(below + r"(?:$|[.\[])", location) is not None


def row_of(operation, code, locations):
    """The number of the row that excuses a code at all of its locations; None: it is a disagreement."""
    for at, row in enumerate(STATE_ONLY):
        if row["code"] != code or operation not in row["operations"]:
            continue
        place = row.get("location")
        if place is None or (locations and all(is_at(one, place) for one in locations)):
            return at
    return None


def excuses_of(case, error):
    """A row for the error, or one for each of its errors; None unless there is one for all of them."""
    operation = operation_of(case)["operationId"]
    errors = error.get("errors", [])
    whole = row_of(operation, error["code"], [one["location"] for one in errors])
    if whole is not None:
        return [whole]
    rows = [row_of(operation, one["code"], [one["location"]]) for one in errors]
    return None if not rows or None in rows else rows


@schemathesis.check
def no_server_error(ctx, response, case):
    """501 says what this installation is set up without, and is documented where it can occur."""
    if response.status_code >= 500 and response.status_code != 501:
        raise AssertionError(f"Server error: {response.status_code}")


@schemathesis.check
def accepts_what_the_document_allows(ctx, response, case):
    error = refusal_of(response)
    rows = None if error is None or not is_positive(case) else excuses_of(case, error)
    if rows is None:
        return checks.positive_data_acceptance(ctx, response, case)
    with lock:
        for at in set(rows):
            excused[str(at)] += 1
    return None


@schemathesis.check
def refuses_what_the_document_forbids(ctx, response, case):
    # A batch is accepted; the answer says of each event by itself that it was refused.
    if operation_of(case)["operationId"] in BATCHES and response.status_code == 202:
        results = response.json().get("data", [])
        if any(one["status"] == "refused" for one in results):
            return None
    # A refusal for another reason came first. That its status is documented is checked apart.
    if 400 <= response.status_code < 500:
        return None
    return checks.negative_data_rejection(ctx, response, case)
