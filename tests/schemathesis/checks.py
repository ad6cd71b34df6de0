"""What the checks of Schemathesis do not ask, and what they cannot know."""

import os
import random
import re
from collections import defaultdict, deque

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData, ServerError

# The newest ids of each kind. Those of our time start with 01, and those that are made up do not.
KNOWN = defaultdict(lambda: deque(maxlen=8))
REAL_ID = re.compile(r"\b(apr|job|q)_01[0-9A-Z]{24}\b")
ANY_ID = re.compile(r"(apr|job|q)_[0-9A-Z]{26}")
RANDOM = random.Random(20200112)


@schemathesis.hook
def after_call(ctx, case, response):
    for found in REAL_ID.finditer(response.text[:10_000]):
        if found[0] not in KNOWN[found[1]]:
            KNOWN[found[1]].append(found[0])


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Asks mostly about what is there: a made-up id is only ever answered with 404."""
    made_up = ANY_ID.fullmatch(str(case.path_parameters.get("id")))
    if made_up and KNOWN[made_up[1]] and RANDOM.random() < 0.8:
        case.path_parameters["id"] = RANDOM.choice(KNOWN[made_up[1]])


@schemathesis.check
def never_internal(ctx, response, case):
    """A tool may fail in the words of its contract, with 500 too; `internal` is our failure."""
    if response.status_code == 500 and b'"internal"' in response.content:
        raise AssertionError("the server says `internal`")


@schemathesis.check
def operator_alone(ctx, response, case):
    """Where nobody shows the operator's token (`STRANGER`), what is the operator's is refused."""
    wanted = case.operation.definition.raw.get("security")
    if not os.environ.get("STRANGER") or wanted != [{"operator": []}]:
        return
    # Other methods than the document's are sent as well: those are not there for anybody.
    is_its_method = case.method.upper() == case.operation.method.upper()
    if is_its_method and response.status_code not in (401, 403):
        raise AssertionError(f"answered with {response.status_code}")


@schemathesis.check
class Reached:
    """Some answers have to come, or a run may have seen nothing but refusals.

    `REACHED` names them: `list_jobs 200, get_job 200, get_job 404`.
    """

    def __init__(self):
        wanted = os.environ.get("REACHED", "").split(",")
        self.missing = {one.strip() for one in wanted} - {""}

    def after_response(self, ctx, response, case):
        operation = case.operation.definition.raw["operationId"]
        self.missing.discard(f"{operation} {response.status_code}")

    def after_run(self, ctx):
        if self.missing:
            raise AssertionError("never answered: " + ", ".join(sorted(self.missing)))


@schemathesis.hook
def filter_failure(ctx, failure, case, response):
    # An answer that is given again was judged when it was first given. (`execute` may set limits
    # that no tool can keep; under the same idempotency key the tool's own path, which sets none,
    # repeats what came of it.)
    if isinstance(failure, ServerError) and "idempotency-replayed" in response.headers:
        return False
    # Spaces around the word do not matter, so spaces alone are no word, which is no filter.
    stability = (case.query or {}).get("stability")
    if isinstance(failure, AcceptedNegativeData) and isinstance(stability, str):
        return bool(stability.strip())
    return True
