import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createChanges } from '../../../lib/engine/changes.ts'
import { createVerifier } from '../../../lib/engine/verifier.ts'
import { KeyhookError } from '../../../lib/errors.ts'
import { hashToken, mintToken } from '../../../lib/key/token.ts'
import { DEFAULT_KEY_PREFIX } from '../../support/key-prefix.ts'
import type { KeyRecord } from '../../../lib/key/record.ts'
import {
  sampleAccount,
  sampleKey,
  sampleSecret,
} from '../../../plugins/store/conformance/samples.ts'
import { createClock, turn } from '../../support/clock.ts'
import type { Checks } from '../run.ts'
import { openExplained } from './plans.ts'
import { START } from './world.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const ENDED = 300
const DEPTH = 8

const mint = (): string => mintToken(DEFAULT_KEY_PREFIX, randomBytes).value

/** How many are still held by somebody; what the last step held is let go within a few turns. */
async function heldOf(records: readonly WeakRef<KeyRecord>[]): Promise<number> {
  const held = () => records.filter((record) => record.deref() !== undefined).length
  for (let left = 10; left > 0 && held() > 0; left -= 1) {
    await turn()
    collect()
  }
  return held()
}

export const PRESENTED_CHECKS: Checks = {
  async K59(t, saw) {
    const { store } = await openExplained(t)
    const pins = new Set(Array.from({ length: 100 }, (_, at) => `app_${at}`))
    const ended = Array.from({ length: ENDED }, mint)
    const [current, revoked, expiring] = [mint(), mint(), mint()]
    const end = { revoked_at: START, expires_at: START + 1 }
    await store.write(async ({ accounts, keys }) => {
      await accounts.insert(sampleAccount())
      for (let depth = 0; depth < DEPTH; depth += 1) {
        const parent_id = depth === 0 ? null : `key_${depth - 1}`
        await keys.insert(sampleKey(`key_${depth}`, { parent_id, depth, pins }))
      }
      const leaf = { parent_id: `key_${DEPTH - 1}`, depth: DEPTH, pins }
      const valueOf = (value: string, version = 1, not_after: number | null = null) =>
        sampleSecret(hashToken(value), { version, not_after })
      await keys.insert(
        sampleKey('key_rotated', {
          ...leaf,
          version: ENDED + 1,
          secrets: [
            valueOf(current, ENDED + 1),
            ...ended.map((value, at) => valueOf(value, ENDED - at, 0)),
          ],
        }),
      )
      const { revoked_at, expires_at } = end
      await keys.insert(sampleKey('key_8', { ...leaf, revoked_at, secrets: [valueOf(revoked)] }))
      await keys.insert(sampleKey('key_9', { ...leaf, expires_at, secrets: [valueOf(expiring)] }))
    })

    const clock = createClock(START)
    let records: WeakRef<KeyRecord>[] = []
    let reads = 0
    const verifier = createVerifier({
      store: {
        async findChain(hash) {
          reads += 1
          const chain = await store.keys.findChain(hash)
          records.push(...(chain?.chain ?? []).map((record) => new WeakRef(record)))
          return chain
        },
      },
      changes: createChanges(),
      clock,
      prefix: DEFAULT_KEY_PREFIX,
    })
    const see = (value: string): Promise<void> =>
      verifier.verify(value).then(
        () => saw('200'),
        (cause: unknown) =>
          saw(cause instanceof KeyhookError ? `401 ${cause.code}` : String(cause)),
      )
    const refused = [...ended, revoked, expiring]
    await see(expiring)
    await clock.advance(1)
    for (const value of refused) await see(value)
    t.equal(records.length, refused.length * (DEPTH + 1), 'each was read whole')
    const held = await heldOf(records)
    t.equal(held, 0)
    saw(held === 0 ? 'no key' : 'keys')

    for (const value of refused) await see(value)
    t.equal(reads, refused.length, 'how it is refused is kept')
    records = []
    await see(current)
    t.equal(await heldOf(records), 1, 'of one that lives the key itself')
  },
}
