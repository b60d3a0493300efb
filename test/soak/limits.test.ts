import t, { type Test } from 'tap'
import { until } from '../support/daemon.ts'
import { resolveSchema } from '../support/openapi.ts'
import type { Operation } from '../../daemon/operations/operation.ts'
import { READS } from '../../daemon/operations/operation.ts'
import { chooseSeed, createSeededRandom } from '../support/seeded-random.ts'
import { sized } from '../support/soak.ts'
import { DEFAULT_BODY_LIMIT } from '../../daemon/limits/amounts.ts'
import { ALL, pathOf } from '../adversarial/operations/attacked.ts'
import type { Answer } from '../adversarial/operations/attacked.ts'
import type { Caller } from '../adversarial/limits/stage.ts'
import {
  bearer,
  HASHING,
  isServed,
  makeWide,
  OF_KEYS,
  OF_OTHERS,
  openStage,
  requestOf,
  watchHeld,
} from '../adversarial/limits/stage.ts'
import { schemaOf } from '../adversarial/limits/wide.ts'
import { LIMITS } from '../adversarial/rows/limits.ts'
import { runSection } from '../adversarial/run.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** Of an error response, whatever was sent. */
const MOST_ERROR = 64 * KIB
const MOST_ERRORS = 50
/** Of a page, beside its last record. */
const MOST_PAGE = 2 * MIB

/** With every key, more than one process opens. */
const STREAMS_PER_KEY = 21

const seed = chooseSeed()
const random = createSeededRandom(seed)
/** Every stream, and of the others all, half or a tenth, chosen anew in each run and each row. */
function taken(operations: readonly Operation[]): readonly Operation[] {
  const oneIn = sized(10, 2, 1)
  return operations.filter(({ effect }) => effect === 'stream' || random.oneIn(oneIn))
}

/** Bodies that an operation refuses, each as large as its limit lets through. */
function refusedBodies(operation: Operation): readonly string[] {
  const limit = operation.bodyLimit ?? DEFAULT_BODY_LIMIT
  const fields = (count: number): string =>
    `{${Array.from({ length: count }, (_, n) => `"f${n}":0`).join()}}`
  const items = `[${'0,'.repeat(limit / 2 - 8)}0]`
  const arrays = Object.entries(schemaOf(operation)?.properties ?? {})
    .filter(([, property]) => resolveSchema(property).type === 'array')
    .map(([name]) => `{"${name}":[${'{"f":0},'.repeat(limit / 16)}{}]}`)
  return [
    `"${'x'.repeat(limit - 2)}"`,
    fields(limit / 16),
    items,
    `{"f":${items.slice(0, limit - 16)}`,
    `${'['.repeat(limit / 2)}${']'.repeat(limit / 2)}`,
    `{"f":`.repeat(limit / 8),
    ...arrays,
  ]
}

/** Members of a JSON body that take any object. */
function openMembers(operation: Operation): readonly string[] {
  const { anyOf = [], oneOf = [], ...body } = schemaOf(operation) ?? {}
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

await t.test('every operation, at its limits', async (t: Test) => {
  t.comment(`SEED=${seed}`)
  const stage = await openStage(t)
  const { attacked, attackers } = stage
  const [attacker, wide] = attackers
  if (attacker === undefined || wide === undefined) throw new Error('no attacker')

  await runSection(t, LIMITS, {
    B01: async (t, saw) => {
      const held = watchHeld(t, attacked)
      let sent = 0
      const query = Array.from({ length: 1200 }, (_, n) => `q${n}=0`).join('&')
      const operations = taken([...OF_KEYS, ...OF_OTHERS])
      for (const operation of operations) {
        for (const body of refusedBodies(operation)) {
          checkRefusal(t, operation, await attacked.send(requestOf(operation, attacker, body)))
          sent += 1
        }
        const announced = (operation.bodyLimit ?? DEFAULT_BODY_LIMIT) + 1
        if (operation.input.parts === undefined) {
          const tooLong = { ...requestOf(operation, attacker, ''), announced }
          checkRefusal(t, operation, await attacked.send(tooLong))
        }
        const path = `${pathOf(operation, attacker.ids)}?${query}`
        const request = { ...requestOf(operation, attacker), path }
        checkRefusal(t, operation, await attacked.send(request))
        await held.look(operation.id)
      }
      t.comment(`${operations.length} of ${ALL.length} operations, ${sent} bodies`)
      await held.end()
      saw('refused')
    },

    B02: async (t, saw) => {
      const held = watchHeld(t, attacked)
      const made = await makeWide(attacked, wide)
      t.comment(`${made.length} operations made wide records: ${made.join(', ')}`)
      t.ok(made.length > 10)
      const reading = ALL.filter(({ effect }) => READS.has(effect))
      let cut = 0
      for (const operation of reading) {
        const { status, text } = await attacked.send(requestOf(operation, wide))
        if (status >= 500 && status !== 501) t.fail(`${operation.id} answered ${status}`)
        if (operation.effect !== 'read') continue
        const { data, has_more } = JSON.parse(text) as { data?: unknown; has_more?: boolean }
        const last = Array.isArray(data) ? JSON.stringify(data.at(-1) ?? '').length : 0
        t.ok(text.length - last <= MOST_PAGE, `${operation.id}: ${text.length} bytes`)
        if (operation.id === 'events.list') t.equal(has_more, true)
        if (has_more === true) cut += 1
      }
      t.comment(`${reading.length} operations, ${cut} pages with more behind`)
      await held.end()
      saw('bounded')
    },

    B03: async (t, saw) => {
      // A process of its own: what the others made of memory is garbage, and not collected yet.
      const stage = await openStage(t)
      const { attacked, attackers } = stage
      const held = watchHeld(t, attacked)
      const neverRead = async (operation: Operation, callers: readonly Caller[]): Promise<void> => {
        const ignored = callers.map((one) => attacked.ignore(requestOf(operation, one)))
        await until('all are sent', () => ignored.every((request) => request.writableFinished))
        t.ok(await isServed(stage, operation), operation.id)
        await held.look(operation.id)
        for (const request of ignored) request.destroy()
      }
      for (const operation of taken(OF_KEYS)) {
        await neverRead(operation, [...attackers, ...attackers])
      }
      // All of them at the operation with the widest answer.
      const crowd = attackers.flatMap(({ key, from }) =>
        Array.from({ length: 20 }, () =>
          attacked.ignore({
            method: 'GET',
            path: '/v1/events?limit=100',
            headers: bearer(key),
            from,
          }),
        ),
      )
      const self = ALL.find(({ id }) => id === 'keys.self')
      for (let n = 0; n < 20 && self !== undefined; n += 1) {
        t.ok(await isServed(stage, self))
        await held.look('all of them')
      }
      t.ok((held.most['responses'] ?? 0) > 0, 'what is not read is counted')
      for (const request of crowd) request.destroy()
      await held.end()
      for (const operation of taken(OF_OTHERS)) await neverRead(operation, attackers.slice(0, 4))
      await held.end(HASHING)
      saw('served')
    },

    B04: async (t, saw) => {
      const held = watchHeld(t, attacked)
      const keys = [attacker.key]
      while (keys.length < 99) {
        const body = JSON.stringify({ name: 'one of many', scopes: ['*:*'] })
        const headers = { ...bearer(attacker.key), 'content-type': 'application/json' }
        const { from } = attacker
        const made = await attacked.send({ method: 'POST', path: '/v1/keys', headers, body, from })
        if (made.status !== 201) break
        keys.push((JSON.parse(made.text) as { key: string }).key)
      }
      t.comment(`${keys.length} keys`)
      t.ok(keys.length > 90)
      for (const operation of taken([...OF_KEYS, ...OF_OTHERS])) {
        const request = requestOf(operation, attacker)
        const times = operation.effect === 'stream' ? STREAMS_PER_KEY : 1
        const asked = keys.flatMap((key) =>
          Array.from({ length: times }, () =>
            attacked.ignore({ ...request, headers: { ...request.headers, ...bearer(key) } }),
          ),
        )
        t.ok(await isServed(stage, operation), operation.id)
        await held.look(operation.id)
        for (const request of asked) request.destroy()
      }
      await held.end(HASHING)
      saw('served')
    },

    B05: async (t, saw) => {
      const found: string[] = []
      for (const operation of ALL) {
        for (const member of openMembers(operation)) {
          found.push(`${operation.id} ${member}`)
          const example = operation.example.body as object
          const body = JSON.stringify({ ...example, [member]: { x: 'x'.repeat(300 * KIB) } })
          const answer = await attacked.send(requestOf(operation, attacker, body))
          t.ok([400, 413].includes(answer.status), `${operation.id} ${member}: ${answer.status}`)
          checkRefusal(t, operation, answer)
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
