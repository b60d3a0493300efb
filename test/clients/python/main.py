"""Uses the client that openapi-python-client makes of the OpenAPI document. Arguments: base address, key, receiver."""

import json
import sys
import time

from keyhook_client import AuthenticatedClient
from keyhook_client.api.events import events_publish, events_publish_batch
from keyhook_client.api.keys import keys_create, keys_list
from keyhook_client.api.webhooks import webhooks_create, webhooks_list_deliveries, webhooks_update
from keyhook_client.models import (
    ErrorCode,
    EventsPublishBatchRequest,
    EventToPublish,
    JsonObject,
    KeysCreateRequest,
    WebhooksCreateRequest,
    WebhooksListDeliveriesStatus,
    WebhooksUpdateRequest,
)

url, key, receiver = sys.argv[1:4]
api = AuthenticatedClient(base_url=url, token=key)

listed = keys_list.sync(client=api, limit=5)
minted = keys_create.sync(
    client=api,
    idempotency_key=f"python-{time.time_ns()}",
    body=KeysCreateRequest(name="made by Python", scopes=["events:write"]),
)
webhook = webhooks_create.sync(
    client=api,
    body=WebhooksCreateRequest(url=receiver, events=["client.called"], description="of Python"),
)
cleared = webhooks_update.sync(
    webhook.id, client=api, body=WebhooksUpdateRequest(description=None)
)
event = EventToPublish(
    type_="client.called", data=JsonObject.from_dict({"by": "Python", "list": [1, "two", None]})
)
one = events_publish.sync(client=api, body=event)
batch = events_publish_batch.sync(client=api, body=EventsPublishBatchRequest(events=[event, event]))

arrived = 0
for _ in range(300):
    page = webhooks_list_deliveries.sync(
        webhook.id, client=api, status=WebhooksListDeliveriesStatus.SUCCEEDED
    )
    arrived = len(page.data)
    if arrived >= 3:
        break
    time.sleep(0.1)

denied = keys_list.sync(client=AuthenticatedClient(base_url=url, token=minted.key))
assert denied.error.code is ErrorCode.INSUFFICIENT_SCOPE

print(
    json.dumps(
        {
            "listed": len(listed.data) > 0,
            "minted": minted.name,
            "description": cleared.description,
            "published": one.status.value,
            "batch": len(batch.data),
            "arrived": arrived,
            "refused": denied.error.code.value,
        }
    )
)
