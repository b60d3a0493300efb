import { PAGE_BYTES } from '../../../daemon/limits/amounts.ts'
import type { EventTypeRecord } from '../../../plugins/store/contract/events.ts'
import { countRowBytes } from '../../support/row-bytes.ts'
import type { Page } from '../../support/webhooks.ts'
import type { World } from '../../support/world.ts'
import type { Checks } from '../run.ts'
import { MIB, openWorld, outcomeOf } from './world.ts'

/** Types that an account may declare, and bytes of the schema, or the sample, of one. */
const TYPES = 500
const DOCUMENT = 16_384
/** Keys, names and what else a request reads beside the documents. */
const BESIDE = 65_536

const textOf = (bytes: number): string => `{"x":"${'x'.repeat(bytes - '{"x":""}'.length)}"}`
const documentOf = (bytes: number): object => JSON.parse(textOf(bytes)) as object
const nameOf = (index: number): string => `wide.t${100 + index}`

/** Declares all types that an account may have; the first is as an earlier release took it. */
async function declareAll({ platform, account }: World): Promise<readonly string[]> {
  const names = Array.from({ length: TYPES }, (_, index) => nameOf(index))
  const kept = { account_id: account.id, description: null, created_at: 0, updated_at: 0 }
  const toType = (type: string, index: number): EventTypeRecord => ({
    ...kept,
    type,
    schema: textOf(DOCUMENT),
    sample: textOf(index === 0 ? MIB : DOCUMENT),
  })
  await platform.store.write(async (tx) => {
    for (const type of names.map(toType)) await tx.events.putType(type)
  })
  return names
}

export const TYPE_CHECKS: Checks = {
  async R21(t, saw) {
    const world = await openWorld(t)
    for (const field of ['schema', 'sample']) {
      const put = (bytes: number) =>
        world.request('PUT', `/v1/event-types/${nameOf(0)}`, {
          as: world.key,
          body: { [field]: documentOf(bytes) },
        })
      t.equal((await put(DOCUMENT)).status, 200)
      for (const bytes of [DOCUMENT + 1, MIB - 100]) {
        const refused = await put(bytes)
        saw(outcomeOf(refused))
        t.match(refused.body, {
          error: {
            errors: [{ location: `body.${field}`, code: 'too_big', message: /16 KiB/ }],
          },
        })
      }
    }
  },

  async R22(t, saw) {
    const world = await openWorld(t)
    const names = await declareAll(world)
    const read = countRowBytes(t)
    const seen: string[] = []
    let path = '/v1/event-types?limit=100'
    for (let more = true; more && seen.length < 2 * TYPES;) {
      const bytes = await read(async () => {
        const { status, body } = await world.request<Page<{ type: string }>>('GET', path, {
          as: world.key,
        })
        saw(String(status))
        const records = Buffer.byteLength(JSON.stringify(body.data))
        t.ok(body.data.length === 1 || records <= PAGE_BYTES, `${records} bytes`)
        seen.push(...body.data.map(({ type }) => type))
        more = body.has_more
        path = `/v1/event-types?limit=100&cursor=${body.next_cursor}`
      })
      t.ok(bytes <= PAGE_BYTES + MIB + BESIDE, `${bytes} bytes were read`)
    }
    t.same(seen, [...world.platform.eventTypes.builtIn.keys(), ...names].sort())
  },

  async R23(t, saw) {
    const world = await openWorld(t)
    await declareAll(world)
    const read = countRowBytes(t)
    const asked = [
      ['PUT', `/v1/event-types/${nameOf(1)}`, {}],
      ['POST', '/v1/events', { type: nameOf(2), data: {} }],
    ] as const
    for (const [method, path, body] of asked) {
      const bytes = await read(async () => {
        saw(outcomeOf(await world.request(method, path, { as: world.key, body })))
      })
      t.ok(bytes <= BESIDE, `${method}: ${bytes} bytes were read`)
    }
  },
}
