/** Event that ends a stream whose caller may no longer read it. */
const END = {
  type: 'object',
  properties: { code: { type: 'string' }, message: { type: 'string' } },
  required: ['code', 'message'],
}

/**
 * One server-sent event of a stream: its data is JSON text. Comments and reconnection delays are not
 * events.
 */
function eventOf(data: unknown): object {
  return {
    type: 'object',
    properties: {
      id: {
        type: 'string',
        description: 'Event id; send the last one as Last-Event-ID to resume.',
      },
      event: {
        type: 'string',
        description: 'Event kind; error is the last one, with the reason why the stream ended.',
      },
      data: {
        type: 'string',
        contentMediaType: 'application/json',
        contentSchema: { anyOf: [data, END] },
      },
    },
    required: ['event', 'data'],
  }
}

/** Describes each stream by its events; `document` describes it by the data of one. */
export function describeStreams<Document extends { readonly paths?: object }>(
  document: Document,
): Document {
  const items: readonly object[] = Object.values(document.paths ?? {})
  const operations = items.flatMap((item): readonly Described[] => Object.values(item))
  for (const { responses } of operations) {
    for (const { content } of Object.values(responses ?? {})) {
      const stream = content?.['text/event-stream']
      if (stream !== undefined) stream.schema = eventOf(stream.schema)
    }
  }
  return document
}

interface Described {
  readonly responses?: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema?: unknown }>> }>
  >
}
