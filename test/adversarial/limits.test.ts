import t, { type Test } from 'tap'
import { until } from '../support/daemon.ts'
import { DOCUMENTED, resolveSchema } from '../support/openapi.ts'
import type { Operation } from '../../daemon/family.ts'
import { READS } from '../../daemon/family.ts'
import { ALL, pathOf, startAttacked } from './operations/attacked.ts'
import type { Answer, Attacked, Request, Tenant } from './operations/attacked.ts'
import { LIMITS } from './rows/limits.ts'
import { runSection } from './run.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** Bytes of the largest body that an operation reads where it declares nothing else. */
const DEFAULT_BODY = MIB
/** Of an error response, whatever was sent. */
const MOST_ERROR = 64 * KIB
const MOST_ERRORS = 50
/** Of a page, beside its last record. */
const MOST_PAGE = 2 * MIB
const MOST_MEMORY = 400 * MIB
/** An event may have 256 KiB. */
const WIDE_EVENT = 250 * KIB
const WIDE_EVENTS = 40

/** With every key, more than one process opens. */
const STREAMS_PER_KEY = 21

const NETWORKS = { attackers: '127.0.0.1', other: '127.0.0.2' }

interface Stage {
  readonly attacked: Attacked
  readonly attackers: readonly (Tenant & { readonly key: string })[]
  readonly other: Tenant & { readonly key: string }
}

async function openStage(t: Test): Promise<Stage> {
  const attacked = await startAttacked(t)
  const attackers = []
  for (let n = 0; n < 10; n += 1) {
    const tenant = await attacked.addTenant()
    attackers.push({ ...tenant, key: await tenant.mint() })
  }
  const other = await attacked.addTenant()
  const [first] = attackers
  if (first === undefined) throw new Error('no attacker')
  for (const attacker of attackers) await widen(attacked, attacker)
  return { attacked, attackers, other: { ...other, key: await other.mint() } }
}

/** Publishes events that are as wide as they may be. */
async function widen(attacked: Attacked, { key }: { readonly key: string }): Promise<void> {
  for (let n = 0; n < WIDE_EVENTS; n += 1) {
    const body = JSON.stringify({ type: 'order.paid', data: { wide: 'x'.repeat(WIDE_EVENT) } })
    const { status, text } = await attacked.send(asKey(key, 'POST', '/v1/events', body))
    if (status >= 300) throw new Error(text)
  }
}

function asKey(key: string, method: string, path: string, body?: string): Request {
  const json = body === undefined ? {} : { 'content-type': 'application/json', body }
  const { body: sent, ...type } = json as { body?: string }
  return {
    method,
    path,
    headers: { authorization: `Bearer ${key}`, ...type },
    ...(sent === undefined ? {} : { body: sent }),
    from: NETWORKS.attackers,
  }
}

/** Whether another account is answered, as it would be if nobody else were there. */
async function isServed({ attacked, other }: Stage, operation: Operation): Promise<boolean> {
  const path = widestPath(operation, other)
  const request = asKey(other.key, operation.method, path, bodyOf(operation))
  const { status } = await attacked.send({ ...request, from: NETWORKS.other })
  return (status < 500 || status === 501) && status !== 429
}

/** Bodies that an operation refuses, each as large as its limit lets through. */
function refusedBodies(operation: Operation): readonly string[] {
  const limit = operation.bodyLimit ?? DEFAULT_BODY
  const fields = (count: number): string =>
    `{${Array.from({ length: count }, (_, n) => `"f${n}":0`).join()}}`
  const items = `[${'0,'.repeat(limit / 2 - 8)}0]`
  const documented = DOCUMENTED.find(({ operationId }) => operationId === operation.id)
  const schema = documented?.requestBody?.content?.['application/json']?.schema
  const arrays = Object.entries(
    schema === undefined ? {} : (resolveSchema(schema).properties ?? {}),
  )
    .filter(([, property]) => resolveSchema(property).type === 'array')
    .map(([name]) => `{"${name}":[${'{"f":0},'.repeat(limit / 16)}{}]}`)
  return [
    `"${'x'.repeat(limit - 2)}"`,
    fields(limit / 16),
    items,
    `{"f":${items.slice(0, limit - 16)}`,
    ...arrays,
  ]
}

/** Members of a JSON body that take any object. */
function openMembers(operation: Operation): readonly string[] {
  const documented = DOCUMENTED.find(({ operationId }) => operationId === operation.id)
  const schema = documented?.requestBody?.content?.['application/json']?.schema
  if (schema === undefined) return []
  const { anyOf = [], oneOf = [], ...body } = resolveSchema(schema)
  return [body, ...anyOf.map(resolveSchema), ...oneOf.map(resolveSchema)]
    .flatMap(({ properties = {} }) => Object.entries(properties))
    .filter(([, property]) => JSON.stringify(property).includes('/JsonObject"'))
    .map(([name]) => name)
}

function checkRefusal(t: Test, { id }: Operation, { status, text }: Answer): void {
  if (status < 400 || status >= 500) t.fail(`${id} answered ${status}: ${text.slice(0, 200)}`)
  if (text.length > MOST_ERROR) t.fail(`${id} answered ${text.length} bytes`)
  const { error } = JSON.parse(text) as { error: { errors?: readonly unknown[] } }
  if ((error.errors?.length ?? 0) > MOST_ERRORS) t.fail(`${id}: ${error.errors?.length} errors`)
}

const READING = ALL.filter(
  ({ effect, access }) => READS.has(effect) && (typeof access === 'object' || access === 'key'),
)

/** The paths over which an operation answers most. */
function widestPath(operation: Operation, tenant: Tenant): string {
  const { input, example } = operation
  const query = new URLSearchParams(example.query ?? {})
  if (input.query !== undefined && 'limit' in input.query.shape) query.set('limit', '100')
  return `${pathOf(operation, tenant.ids)}?${query.toString()}`
}

function bodyOf({ input, example }: Operation): string | undefined {
  return input.body === undefined || example.body === undefined
    ? undefined
    : JSON.stringify(example.body)
}

await t.test('every operation, at its limits', async (t: Test) => {
  const stage = await openStage(t)
  const { attacked, attackers } = stage
  const [attacker] = attackers
  if (attacker === undefined) throw new Error('no attacker')

  await runSection(t, LIMITS, {
    B01: async (t, saw) => {
      let sent = 0
      const query = Array.from({ length: 1200 }, (_, n) => `q${n}=0`).join('&')
      for (const operation of ALL) {
        const path = pathOf(operation, attacker.ids)
        for (const body of refusedBodies(operation)) {
          const request = asKey(attacker.key, operation.method, path, body)
          checkRefusal(t, operation, await attacked.send(request))
          sent += 1
        }
        const announced = (operation.bodyLimit ?? DEFAULT_BODY) + 1
        const tooLong = { ...asKey(attacker.key, operation.method, path, ''), announced }
        if (operation.input.parts === undefined) {
          checkRefusal(t, operation, await attacked.send(tooLong))
        }
        const request = asKey(attacker.key, operation.method, `${path}?${query}`)
        checkRefusal(t, operation, await attacked.send(request))
      }
      t.comment(`${ALL.length} operations, ${sent} bodies`)
      saw('refused')
    },

    B02: async (t, saw) => {
      for (const operation of READING) {
        const request = asKey(
          attacker.key,
          operation.method,
          widestPath(operation, attacker),
          bodyOf(operation),
        )
        const { status, text } = await attacked.send(request)
        if (status >= 500 && status !== 501) t.fail(`${operation.id} answered ${status}`)
        if (operation.effect !== 'read') continue
        const { data, has_more } = JSON.parse(text) as { data?: unknown; has_more?: boolean }
        const last = Array.isArray(data) ? JSON.stringify(data.at(-1) ?? '').length : 0
        t.ok(text.length - last <= MOST_PAGE, `${operation.id}: ${text.length} bytes`)
        if (operation.id === 'events.list') t.equal(has_more, true)
      }
      t.comment(`${READING.length} operations`)
      saw('bounded')
    },

    B03: async (t, saw) => {
      // A process of its own: what B01 made of memory is garbage, and not collected yet.
      const stage = await openStage(t)
      const { attacked, attackers } = stage
      const before = attacked.peak() ?? 0
      for (const operation of READING) {
        const ignored = attackers.flatMap((one) =>
          Array.from({ length: 2 }, () =>
            attacked.ignore(
              asKey(one.key, operation.method, widestPath(operation, one), bodyOf(operation)),
            ),
          ),
        )
        await until('all are sent', () => ignored.every((request) => request.writableFinished))
        t.ok(await isServed(stage, operation), operation.id)
        for (const request of ignored) request.destroy()
      }
      // All of them at the operation with the widest answer.
      const crowd = attackers.flatMap((one) =>
        Array.from({ length: 20 }, () =>
          attacked.ignore(asKey(one.key, 'GET', '/v1/events?limit=100')),
        ),
      )
      const self = ALL.find(({ id }) => id === 'keys.self')
      for (let n = 0; n < 20 && self !== undefined; n += 1) t.ok(await isServed(stage, self))
      for (const request of crowd) request.destroy()
      const peak = attacked.peak() ?? 0
      t.comment(`${Math.round(before / MIB)} MB before, ${Math.round(peak / MIB)} MB at most`)
      t.ok(peak < MOST_MEMORY, `${Math.round(peak / MIB)} MB`)
      saw('served')
    },

    B04: async (t, saw) => {
      const keys = [attacker.key]
      while (keys.length < 99) {
        const made = await attacked.send(
          asKey(
            attacker.key,
            'POST',
            '/v1/keys',
            JSON.stringify({ name: 'one of many', scopes: ['*:*'] }),
          ),
        )
        if (made.status !== 201) break
        keys.push((JSON.parse(made.text) as { key: string }).key)
      }
      t.comment(`${keys.length} keys`)
      t.ok(keys.length > 90)
      for (const operation of ALL.filter(({ method }) => method !== 'DELETE')) {
        const path = pathOf(operation, attacker.ids)
        const times = operation.effect === 'stream' ? STREAMS_PER_KEY : 1
        const asked = keys.flatMap((key) =>
          Array.from({ length: times }, () =>
            attacked.ignore(asKey(key, operation.method, path, bodyOf(operation))),
          ),
        )
        t.ok(await isServed(stage, operation), operation.id)
        for (const request of asked) request.destroy()
      }
      saw('served')
    },

    B05: async (t, saw) => {
      const found: string[] = []
      for (const operation of ALL) {
        for (const member of openMembers(operation)) {
          found.push(`${operation.id} ${member}`)
          const example = operation.example.body as object
          const body = JSON.stringify({ ...example, [member]: { x: 'x'.repeat(300 * KIB) } })
          const path = pathOf(operation, attacker.ids)
          const { status, text } = await attacked.send(
            asKey(attacker.key, operation.method, path, body),
          )
          t.ok(status === 400 || status === 413, `${operation.id} ${member}: ${status}`)
          checkRefusal(t, operation, { status, text })
        }
      }
      t.same(found.sort(), [
        'events.declare_type sample',
        'events.declare_type schema',
        'events.publish data',
      ])
      saw('refused')
    },
  })
})
