// Uses the client that oapi-codegen makes of the OpenAPI document. Arguments: base address, key, address of a receiver.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"time"

	"clients/keyhook"

	"github.com/oapi-codegen/nullable"
)

func client(url, key string) *keyhook.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	made, err := keyhook.NewClientWithResponses(url, keyhook.WithRequestEditorFn(authorize))
	must(err)
	return made
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// refused returns the code of a refusal.
func refused(body *keyhook.Error) keyhook.ErrorCode {
	if body == nil {
		must(errors.New("this was not refused with a code"))
	}
	return body.Error.Code
}

func main() {
	ctx := context.Background()
	url, key, receiver := os.Args[1], os.Args[2], os.Args[3]
	api := client(url, key)

	limit := 5
	listed, err := api.KeysListWithResponse(ctx, &keyhook.KeysListParams{Limit: &limit})
	must(err)
	account := "go-" + time.Now().Format(time.RFC3339Nano)
	minted, err := api.KeysCreateWithResponse(ctx, &keyhook.KeysCreateParams{IdempotencyKey: &account},
		keyhook.KeysCreateRequest{Name: "made by Go", Scopes: []string{"events:write"}})
	must(err)
	webhook, err := api.WebhooksCreateWithResponse(ctx, nil, keyhook.WebhooksCreateRequest{
		Url: receiver, Events: []string{"client.called"},
		Description: nullable.NewNullableWithValue("of Go"),
	})
	must(err)
	cleared, err := api.WebhooksUpdateWithResponse(ctx, webhook.JSON201.Id, nil,
		keyhook.WebhooksUpdateRequest{Description: nullable.NewNullNullable[string]()})
	must(err)
	event := keyhook.EventToPublish{
		Type: "client.called",
		Data: keyhook.JsonObject{"by": "Go", "list": []any{1, "two", nil}},
	}
	one, err := api.EventsPublishWithResponse(ctx, nil, event)
	must(err)
	batch, err := api.EventsPublishBatchWithResponse(ctx, nil,
		keyhook.EventsPublishBatchRequest{Events: []keyhook.EventToPublish{event, event}})
	must(err)

	succeeded := keyhook.WebhooksListDeliveriesParamsStatus("succeeded")
	arrived := 0
	for round := 0; round < 300 && arrived < 3; round++ {
		page, err := api.WebhooksListDeliveriesWithResponse(ctx, webhook.JSON201.Id,
			&keyhook.WebhooksListDeliveriesParams{Status: &succeeded})
		must(err)
		arrived = len(page.JSON200.Data)
		time.Sleep(100 * time.Millisecond)
	}
	narrow := client(url, minted.JSON201.Key.MustGet())
	denied, err := narrow.KeysListWithResponse(ctx, nil)
	must(err)

	must(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"listed":      len(listed.JSON200.Data) > 0,
		"minted":      minted.JSON201.Name,
		"description": cleared.JSON200.Description,
		"published":   one.JSON202.Status,
		"batch":       len(batch.JSON202.Data),
		"arrived":     arrived,
		"refused":     refused(denied.JSON403),
	}))
}
