import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** A span as a collector receives it. */
export interface CollectedSpan {
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  /** 2 server, 3 client, 4 producer. */
  readonly kind: number
  readonly attributes: Readonly<Record<string, string | number>>
  readonly start: bigint
  readonly end: bigint
}

export interface Collector {
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** Names of the metrics that were received. */
  readonly metrics: ReadonlySet<string>
  /** Everything that was received. */
  readonly texts: readonly string[]
  close(): Promise<void>
}

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string }
}

interface Scoped<Item> {
  readonly resource: { readonly attributes: readonly Attribute[] }
  readonly scopeSpans?: readonly { readonly spans: readonly Item[] }[]
  readonly scopeMetrics?: readonly { readonly metrics: readonly { readonly name: string }[] }[]
}

interface WireSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: readonly Attribute[]
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
}

/** Starts a collector of OTLP over HTTP, in JSON, on loopback. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = []
  const metrics = new Set<string>()
  const texts: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => {
      const text = Buffer.concat(chunks).toString()
      texts.push(text)
      const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(text) as {
        resourceSpans?: readonly Scoped<WireSpan>[]
        resourceMetrics?: readonly Scoped<WireSpan>[]
      }
      for (const { resource, scopeSpans = [] } of resourceSpans) {
        const service = String(valuesOf(resource.attributes)['service.name'])
        for (const span of scopeSpans.flatMap((scope) => scope.spans))
          spans.push(toSpan(service, span))
      }
      for (const { scopeMetrics = [] } of resourceMetrics)
        for (const { name } of scopeMetrics.flatMap((scope) => scope.metrics)) metrics.add(name)
      response.setHeader('Content-Type', 'application/json')
      response.end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    texts,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function toSpan(service: string, span: WireSpan): CollectedSpan {
  const { traceId, spanId, parentSpanId, name, kind, attributes } = span
  return {
    service,
    traceId,
    spanId,
    parentSpanId: parentSpanId === '' ? undefined : parentSpanId,
    name,
    kind,
    attributes: valuesOf(attributes),
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
  }
}

function valuesOf(attributes: readonly Attribute[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  )
}
