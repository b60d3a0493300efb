import { once } from 'node:events'
import type { Test } from 'tap'
import { accountsFamily } from '../../../daemon/families/accounts/family.ts'
import { createEditHandler } from '../../../daemon/families/edits/run.ts'
import { createFileHandler } from '../../../daemon/families/files/process.ts'
import { FAMILIES } from '../../../daemon/families/index.ts'
import { keysFamily } from '../../../daemon/families/keys/family.ts'
import type { Protocol } from '../../../daemon/http/protocol-steps.ts'
import type { Family } from '../../../daemon/operations/family.ts'
import type { Operation } from '../../../daemon/operations/operation.ts'
import { createLog } from '../../../daemon/telemetry/log.ts'
import { runJobs, jobTimes } from '../../../daemon/jobs/runner.ts'
import type { Deployer } from '../../../plugins/deploy/contract.ts'
import { createMemoryDeployer } from '../../../plugins/deploy/memory.ts'
import { createMemoryEditor, ENDLESS_PROMPT } from '../../../plugins/edits/memory.ts'
import type { NameLookup } from '../../../plugins/egress/contract.ts'
import { pricesOf } from '../../support/billing.ts'
import { startDeployer } from '../../support/deploys.ts'
import { formOf } from '../../support/knowledge.ts'
import { observe, report, request as served } from '../../support/observed.ts'
import { answerWith, startReceiver } from '../../support/receiver.ts'
import type { UserPrincipal } from '../../../daemon/authority/principal.ts'
import type { AnyBody, World } from '../../support/world.ts'
import { createWorld } from '../../support/world.ts'
import type { Caller, Canary, DnsRecord, Ids, Plot } from './planted.ts'
import { HELD_FILE, plant, PLANTED, STATES } from './planted.ts'

/** How often what waits is looked for, in milliseconds. */
const LOOK_EVERY = 20

/** Everything that left the service, by the operation that let it out. */
export interface Outlets {
  /** What a model was shown, by the prompt that asked. */
  readonly prompts: string[]
  /** Paths and bodies that a receiver was sent. */
  delivered(): readonly { readonly path: string; readonly text: string }[]
}

export interface Garden {
  readonly world: World
  readonly observing: ReturnType<typeof observe>
  /** Where webhooks lead: http://127.0.0.1:<port>. */
  readonly receiver: string
  /** The DNS that hostnames are looked up in. */
  readonly records: DnsRecord[]
}

export interface Walk {
  readonly garden: Garden
  readonly outlets: Outlets
  /** Stops the workers: what is accepted from now on stays as it is. */
  rest(): Promise<void>
}

/** A world with every family, its workers, a receiver and a model. */
export async function openGarden(
  t: Test,
  more: readonly Family[] = [],
  protocols: readonly Protocol[] = [],
): Promise<Walk> {
  const prompts: string[] = []
  const editor = createMemoryEditor({
    async script({ prompt }, { passages }) {
      if (prompt === ENDLESS_PROMPT) return new Promise(() => undefined)
      const known = await passages('opening hours', 5)
      prompts.push(JSON.stringify({ prompt, known }))
      return [{ op: 'write', path: 'about.html', content: '<p>About</p>\n' }]
    },
  })
  const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
  t.teardown(() => receiver.close())
  const families = FAMILIES.filter((one) => one !== keysFamily && one !== accountsFamily)
  const records: DnsRecord[] = []
  const world = await createWorld(t, {
    families: [...families, ...more],
    editor,
    deployer: createHoldingDeployer(),
    nameLookup: lookUpIn(records),
    appIds: 'own',
    protocols,
    // Everything is free, so that what has a price succeeds without credit.
    prices: pricesOf({ 'apps.create': 0, 'edits.create': 0, 'files.upload': 0 }),
  })
  const log = createLog('silent')
  const workers = [
    startDeployer(t, world),
    runJobs(world.platform, log, createEditHandler, jobTimes('edit'), LOOK_EVERY),
    runJobs(world.platform, log, createFileHandler, jobTimes('file'), LOOK_EVERY),
  ]
  const rest = async (): Promise<void> => {
    for (const worker of workers.splice(0)) await worker.stop()
  }
  t.teardown(rest)
  const at = `http://127.0.0.1:${receiver.port}`
  return {
    rest,
    garden: { world, observing: observe(world), receiver: at, records },
    outlets: {
      prompts,
      delivered: () =>
        receiver.requests.map(({ head, body }) => ({
          path: head.split(' ', 2)[1] ?? '',
          text: body,
        })),
    },
  }
}

function createHoldingDeployer(): Deployer {
  const plain = createMemoryDeployer()
  return {
    ...plain,
    async build(task, tools) {
      const isHeld = task.files.some(({ path }) => path === HELD_FILE)
      if (isHeld && !tools.signal.aborted) await once(tools.signal, 'abort')
      return plain.build(task, tools)
    },
  }
}

function lookUpIn(records: readonly DnsRecord[]): NameLookup {
  const valuesOf = async (type: DnsRecord['type'], name: string): Promise<readonly string[]> =>
    records.filter((one) => one.type === type && one.name === name).map(({ value }) => value)
  return {
    texts: (name) => valuesOf('TXT', name),
    aliases: (name) => valuesOf('CNAME', name),
    addresses: async () => [],
  }
}

/** What an operation was asked, and all that it answered. */
export interface Asked {
  readonly status: number
  readonly text: string
}

/** Bodies that are asked for in place of the example: what leads furthest. */
type Bodies = (ids: Ids, receiver: string) => readonly AnyBody[]

const SINCE = '2020-01-01T00:00:00Z'

/** Operations whose example does not succeed by itself, or does not reach everything. */
const BODIES: Readonly<Record<string, Bodies>> = {
  'keys.create': () => [{ name: 'a key', scopes: ['keys:write'] }],
  'apps.create': () => [{ template_id: 'blank' }, { prompt: 'opening hours' }],
  'edits.create': () => [
    { prompt: 'opening hours, asked by a key' },
    { operations: [{ op: 'delete', path: 'no-such-file' }], base_revision: 2 },
    {
      operations: [{ op: 'patch', path: 'index.html', search: 'nowhere', replace: 'x' }],
      base_revision: 2,
    },
    { operations: [{ op: 'write', path: 'a.txt', content: 'a' }], base_revision: 3 },
  ],
  'files.search': () => [{ query: 'opening hours' }],
  'deploy.rollback': () => [{}, { message: 'Back' }],
  'settings.update_auth': () => [{ signup: 'invite' }],
  'settings.create_domain': () => [{ hostname: 'another.example.com' }],
  'webhooks.create': (_, receiver) =>
    [['*'], ['order.paid'], ['order.*'], ['app.created']].map((events) => ({
      url: `${receiver}/of/webhooks.create`,
      events,
    })),
  'webhooks.update': (_, receiver) =>
    [['*'], ['order.paid'], ['order.*']].flatMap((events) => [
      { events },
      { url: `${receiver}/of/webhooks.update`, events },
      { url: `${receiver}/of/webhooks.update` },
    ]),
  'webhooks.replay': () => [{ since: SINCE, dry_run: true }, { since: SINCE }],
  'webhooks.retry_failed': () => [{ since: SINCE }],
}

/**
 * Asks an operation for everything that may make it say more than it should: its example, each form of
 * its body, a body it refuses, and nothing at all.
 */
export async function askAll(
  { world, receiver }: Garden,
  operation: Operation,
  key: string,
  ids: Ids,
): Promise<readonly Asked[]> {
  const { example, input, id } = operation
  const bodies: readonly unknown[] =
    input.body === undefined
      ? [undefined]
      : [...(BODIES[id]?.(ids, receiver) ?? [example.body]), {}, { surprise: 1 }, []]
  const query = new URLSearchParams(example.query ?? {}).toString()
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')
  const asked: Asked[] = []
  for (const body of bodies) asked.push(await ask(`${path}?${query}`, body))
  asked.push(await ask(`${path}?surprise=1`, bodies[0]))
  if (input.parts !== undefined) asked.push(await ask(path, formOf([['new.md', 'new text']])))
  return asked

  async function ask(target: string, body: unknown): Promise<Asked> {
    const isForm = body instanceof FormData
    const response = await fetch(world.baseUrl + target, {
      method: operation.method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    })
    return { status: response.status, text: await read(response) }
  }
}

/** A stream may go on for ever: it is read until it falls silent. */
async function read(response: Response): Promise<string> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const head = JSON.stringify([...response.headers])
  if (isStream !== true) return head + (await response.text())
  let text = head
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let isSilent = false; !isSilent && reader !== undefined;) {
    const next = await Promise.race([reader.read(), silence()])
    isSilent = next === undefined || next.done
    text += next?.value ?? ''
  }
  await reader?.cancel()
  return text
}

/** Milliseconds without a byte after which a stream has said what it had. */
const SILENCE = 300

function silence(): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), SILENCE)
  })
}

/** An account of its own: its records, and a key that holds one scope. */
export interface Bed extends Caller {
  readonly user: UserPrincipal
}

/** Where the webhook of an account leads that receives all built-in types. */
export const BUILT_IN = '/built-in'

/** @param id of the operation that is called; without it no state is prepared */
export async function openBed(
  garden: Garden,
  canary: Canary,
  scope: string,
  id?: string,
): Promise<Bed> {
  const user = garden.world.userOf(await garden.world.addAccount())
  const plot = plotOf(garden, user, canary)
  await plot.ask('POST', '/v1/webhooks', { url: garden.receiver + BUILT_IN, events: ['*'] })
  const ids = await plant(plot, canary, scope)
  const { id: key_id, key } = await garden.world.mintKey({ scopes: [scope] }, user)
  const caller = { ids, key_id, key }
  return { user, ...caller, ...(await STATES[id ?? '']?.(plot, canary, caller)) }
}

function plotOf(
  { world, observing, receiver, records }: Garden,
  as: UserPrincipal,
  canary: Canary,
): Plot {
  return {
    receiver,
    resolve: (more) => records.push(...more),
    async ask(method, path, body) {
      const given = body instanceof FormData ? { form: body } : { body }
      const made = await world.request(method, path, { as, ...given })
      if (made.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(made.body)}`)
      return made.body
    },
    async grant(note) {
      const body = { amount: '1.00', note }
      const operator = world.operatorFor({ id: as.account_id })
      const made = await world.request('POST', '/v1/billing/credits', { as: operator, body })
      if (made.status >= 300) throw new Error(`no credit: ${JSON.stringify(made.body)}`)
    },
    async bill(number) {
      const { store, clock, newId } = world.platform
      const invoice = {
        processor: 'memory',
        id: newId(),
        account_id: as.account_id,
        number,
        status: 'paid',
        amount_due: 1,
        amount_paid: 1,
        currency: 'USD',
        period_start: null,
        period_end: null,
        hosted_url: null,
        pdf_url: null,
        charge_id: null,
        credit_transaction: null,
        created_at: clock.now(),
      } as const
      await store.write((tx) => tx.payments.putInvoice(invoice))
      return invoice.id
    },
    async observe(app_id, deployment_id) {
      const site = { app_id, kind: 'published', deployment_id } as const
      const { observer, flush } = observing
      observer.served(served(app_id, { deployment_id, path: `/${canary('observe')}` }))
      observer.reported(site, [report(canary('observe'))], world.platform.clock.now(), '192.0.2.1')
      await flush()
    },
  }
}

/** The families whose canaries stand in these texts. */
export function familiesIn(texts: readonly string[], canary: Canary): readonly string[] {
  return [...PLANTED, 'secrets' as const].filter((family) =>
    texts.some((text) => text.includes(canary(family))),
  )
}

/** The families whose data an operation declares to let out to a caller with its scope alone. */
export function declaredBy({ emits }: Operation): readonly string[] {
  return emits.flatMap((emission) => {
    if (typeof emission === 'string') return [emission]
    return emission.requires === undefined ? [emission.family] : []
  })
}
