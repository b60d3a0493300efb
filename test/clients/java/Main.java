// Uses the client that openapi-generator makes of the OpenAPI document. Arguments: base address, key, receiver.
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.KeysApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.*;
// `Error` of java.lang hides the one that the line above brings.
import org.openapitools.client.model.Error;

class Main {
  static ApiClient client(String url, String key) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
    return client;
  }

  public static void main(String[] args) throws Exception {
    String url = args[0];
    ApiClient client = client(url, args[1]);
    KeysApi keys = new KeysApi(client);
    WebhooksApi webhooks = new WebhooksApi(client);
    EventsApi events = new EventsApi(client);

    KeysListPage listed = keys.keysList(5, null, null, null);
    CreatedKey minted = keys.keysCreate(
        new KeysCreateRequest().name("made by Java").scopes(List.of("events:write")),
        "java-" + System.nanoTime(), null);
    CreatedWebhook webhook = webhooks.webhooksCreate(
        new WebhooksCreateRequest().url(args[2]).events(Set.of("client.called")).description("of Java"),
        null, null);
    Webhook cleared = webhooks.webhooksUpdate(
        webhook.getId(), new WebhooksUpdateRequest().description(null), null);
    EventToPublish event = new EventToPublish()
        .type("client.called")
        .data(Map.of("by", "Java", "list", Arrays.asList(1, "two", null)));
    AcceptedEvent one = events.eventsPublish(event, null, null);
    EventsPublishBatchResult batch = events.eventsPublishBatch(
        new EventsPublishBatchRequest().events(List.of(event, event)), null, null);

    int arrived = 0;
    for (int round = 0; round < 300 && arrived < 3; round++) {
      arrived = webhooks
          .webhooksListDeliveries(webhook.getId(), null, null, "succeeded", null, null, null)
          .getData()
          .size();
      Thread.sleep(100);
    }

    ObjectMapper json = client.getObjectMapper();
    ErrorCode refused = null;
    try {
      new KeysApi(client(url, minted.getKey())).keysList(null, null, null, null);
    } catch (ApiException refusal) {
      refused = json.readValue(refusal.getResponseBody(), Error.class).getError().getCode();
    }

    Map<String, Object> seen = new LinkedHashMap<>();
    seen.put("listed", !listed.getData().isEmpty());
    seen.put("minted", minted.getName());
    seen.put("description", cleared.getDescription());
    seen.put("published", one.getStatus().getValue());
    seen.put("batch", batch.getData().size());
    seen.put("arrived", arrived);
    seen.put("refused", refused == null ? null : refused.getValue());
    System.out.println(new ObjectMapper().writeValueAsString(seen));
  }
}
