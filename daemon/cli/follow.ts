import { randomBytes, randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { InvalidArgumentError, Option } from 'commander'
import { SECOND } from '../../lib/time.ts'
import { serializeEvent } from '../../lib/webhook/event.ts'
import { brandNames, deliveryHeaders } from '../../lib/webhook/headers.ts'
import { isSecret, mintSecret } from '../../lib/webhook/secret.ts'
import { addShared, namingHelp } from './command.ts'
import type { FeedEvent } from './event-feed.ts'
import { eventIn, followEvents, messageIn } from './event-feed.ts'
import type { CommandPorts } from './operation-command.ts'
import { reasonOf } from './remote.ts'

interface Followed {
  readonly account?: string
  readonly json?: boolean
  readonly type?: readonly string[]
  readonly after?: string
}

interface Forwarded extends Followed {
  readonly forwardTo: string
  readonly replay?: string
  readonly secretStdin?: boolean
}

/** As a webhook waits for a status line. */
const ANSWER_WITHIN = 10 * SECOND

/** Adds `event tail`. */
export function addTail(events: Command, ports: CommandPorts): void {
  const tail = events.command('tail').description('Print events as they are published')
  namingHelp(tail, 'keyhook event tail')
  addFollowing(tail)
  tail.action(async () => {
    const options = tail.optsWithGlobals<Followed>()
    for await (const event of follow(options, ports)) {
      ports.terminal.out(options.json === true ? `${event.text}\n` : lineOf(event))
    }
  })
}

/** Defines `listen`, which is a webhook for a server on the developer's own machine: no address of it is public. */
export function defineListen(listen: Command, ports: CommandPorts): void {
  listen
    .addOption(
      new Option('--forward-to <url>', 'such as http://localhost:3000/hooks')
        .makeOptionMandatory()
        .argParser(readUrl),
    )
    .option('--replay <event-id>', 'forward this event alone, and end')
    .option('--secret-stdin', 'sign with the whsec_ secret on standard input; default: a new one')
  addFollowing(listen)
  listen.action(async () => {
    const options = listen.optsWithGlobals<Forwarded>()
    const send = await createForwarder(options, ports)
    if (options.replay !== undefined) {
      if (!(await send(await getEvent(options.replay, options, ports)))) ports.exit(1)
      return
    }
    for await (const event of follow(options, ports)) await send(event)
  })
}

function addFollowing(command: Command): void {
  addShared(command)
    .option('--type <list>', 'these event types alone, comma separated; default: all', readList)
    .option('--after <position>', 'what follows this position of the feed; default: from now on')
}

async function* follow(
  options: Followed,
  { askRunning: ask, terminal }: CommandPorts,
): AsyncGenerator<FeedEvent> {
  const { account, after, type } = options
  const lost = (reason: string): void => {
    terminal.err(`keyhook: ${reason}; trying again\n`)
  }
  for await (const event of followEvents({ ask, account, after, lost })) {
    if (type === undefined || type.includes(event.type)) yield event
  }
}

async function getEvent(
  id: string,
  { account }: Followed,
  { askRunning: ask }: CommandPorts,
): Promise<FeedEvent> {
  const path = `/v1/events/${encodeURIComponent(id)}`
  const { status, text } = await ask({ method: 'GET', path, body: undefined }, account)
  if (status >= 400) throw new Error(messageIn(text))
  return eventIn(text)
}

/** Sends one event once, prints what became of it, and resolves with whether it was accepted. */
async function createForwarder(
  { forwardTo, json, secretStdin }: Forwarded,
  ports: CommandPorts,
): Promise<(event: FeedEvent) => Promise<boolean>> {
  const { terminal } = ports
  const names = brandNames(await ports.brand())
  const secret = secretStdin === true ? await readSecret(ports) : mintSecret(randomBytes)
  if (secretStdin !== true) terminal.err(`Your webhook secret is ${secret}\n`)
  return async (event) => {
    const body = serializeEvent({ ...event, created_at: Date.parse(event.created_at) })
    const begun = performance.now()
    const headers = deliveryHeaders(names, {
      eventType: event.type,
      eventId: event.id,
      deliveryId: randomUUID(),
      timestampSeconds: Math.floor(Date.now() / SECOND),
      body,
      secrets: [secret],
      standardHeaders: true,
      custom: {},
    })
    const result = await post(forwardTo, headers, body)
    const duration_ms = Math.round(performance.now() - begun)
    const { id, type, position } = event
    terminal.out(
      json === true
        ? `${JSON.stringify({ id, type, position, ...result, duration_ms })}\n`
        : `${type} ${id} ${result.status ?? result.error} ${duration_ms} ms\n`,
    )
    return result.status !== null && result.status >= 200 && result.status < 300
  }
}

async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Promise<{ readonly status: number | null; readonly error: string | null }> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN)
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    // The status decides, as for a webhook.
    await response.body?.cancel()
    return { status: response.status, error: null }
  } catch (cause) {
    return { status: null, error: reasonOf(cause) }
  }
}

async function readSecret({ terminal }: CommandPorts): Promise<string> {
  const secret = (await terminal.readInput()).trim()
  if (isSecret(secret)) return secret
  throw new Error('standard input holds no whsec_ secret')
}

function readUrl(text: string): string {
  const url = URL.parse(text)
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href
  throw new InvalidArgumentError('Must be an address such as http://localhost:3000/hooks.')
}

function readList(text: string): readonly string[] {
  return text.split(',').map((one) => one.trim())
}

function lineOf({ created_at, type, id, data }: FeedEvent): string {
  return `${created_at} ${type} ${id} ${data}\n`
}
