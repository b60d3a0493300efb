import { randomBytes } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import type { KeptSiteLimits, WantedSite } from '../../daemon/hosting/kept-sites.ts'
import { createKeptSites } from '../../daemon/hosting/kept-sites.ts'
import { readLive } from '../../daemon/hosting/read-site.ts'
import type { ReadSite } from '../../daemon/hosting/read-site.ts'
import type { ServedFile } from '../../plugins/deploy/contract.ts'
import { printManifest } from '../../plugins/deploy/contract.ts'
import { turn } from '../support/clock.ts'

const MIB = 1024 * 1024

/** What apps serve, each of 100 bytes, whose reads wait until they are let. */
function createWorld(limits: Partial<KeptSiteLimits> = {}) {
  const begun: string[] = []
  const gates: ((fault?: Error) => void)[] = []
  const state = { isHeld: false, isWhole: true }
  const find = createKeptSites(limits)
  const wanted = (of: string, version: string): WantedSite => ({
    of,
    version,
    async read(): Promise<ReadSite> {
      begun.push(`${of} ${version}`)
      if (state.isHeld) {
        await new Promise<void>((resolve, reject) => {
          gates.push((fault) => (fault === undefined ? resolve() : reject(fault)))
        })
      }
      const manifest = { files: new Map(), spa: false }
      const site = { app_id: of, kind: 'published', deployment_id: version, manifest } as const
      return { site: { ...site, earlier: [] }, bytes: 100, isWhole: state.isWhole }
    },
  })
  return {
    begun,
    state,
    find: (of: string, version = '1') => find(wanted(of, version)),
    /** The read that has waited longest. */
    async release(fault?: Error): Promise<void> {
      gates.shift()?.(fault)
      await turn()
    },
  }
}

await t.test('what an app serves is read once for all who ask, and then known', async (t) => {
  const { find, begun, state, release } = createWorld()
  state.isHeld = true
  const asked = ['a', 'a', 'a'].map(async (of) => find(of))
  await release()
  const [first, ...others] = await Promise.all(asked)
  for (const one of [...others, find('a')]) t.equal(one, first)
  t.same(begun, ['a 1'])

  const old = find('a', '2')
  state.isHeld = false
  t.match(await find('b'), { deployment_id: '1' }, 'nobody waits for another app')
  await release()
  t.match(await old, { deployment_id: '2' })
  t.match(find('a', '2'), { deployment_id: '2' }, 'at once')
  await find('a', '1')
  t.same(begun, ['a 1', 'a 2', 'b 1', 'a 1'], 'of each app one is kept')
})

await t.test('so many are read at once, the others in their turn', async (t) => {
  const { find, begun, state, release } = createWorld({ atOnce: 2 })
  state.isHeld = true
  const asked = ['a', 'b', 'c', 'd', 'c'].map(async (of) => find(of))
  await turn()
  t.same(begun, ['a 1', 'b 1'])
  await release()
  t.same(begun, ['a 1', 'b 1', 'c 1'])
  const failing = t.rejects(Promise.resolve<unknown>(asked[1]), /the disk is gone/)
  await release(new Error('the disk is gone'))
  await failing
  t.same(begun, ['a 1', 'b 1', 'c 1', 'd 1'], 'one that fails holds nobody up')
  await release()
  await release()
  t.equal(
    (await Promise.allSettled(asked)).filter(({ status }) => status === 'fulfilled').length,
    4,
  )
  state.isHeld = false
  await find('b')
  t.equal(begun.length, 5, 'and is read again')
})

await t.test('what was asked for longest ago goes first, by size', async (t) => {
  const { find, begun } = createWorld({ bytes: 250 })
  for (const of of ['a', 'b', 'a', 'c']) await find(of)
  t.same(begun, ['a 1', 'b 1', 'c 1'])
  await find('a')
  await find('c')
  t.equal(begun.length, 3, 'a was asked for since')
  await find('b')
  t.equal(begun.length, 4)
  const small = createWorld({ bytes: 99 })
  await small.find('a')
  await small.find('a')
  t.equal(small.begun.length, 2, 'served, and never kept')
})

await t.test('what somebody else may find more of is not kept', async (t) => {
  const { find, begun, state } = createWorld()
  state.isWhole = false
  await find('a')
  state.isWhole = true
  await find('a')
  await find('a')
  t.equal(begun.length, 2)
})

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function usedBytes(): Promise<number> {
  await turn()
  collect()
  return process.memoryUsage().heapUsed
}

/** The manifest of 5,000 files. */
function printLarge(forms: readonly ('br' | 'gzip')[], name: string): Buffer {
  const keptOf = (size: number) => ({ sha256: randomBytes(32).toString('hex'), size })
  const files = Array.from({ length: 5000 }, (_, index): [string, ServedFile] => {
    const path = `assets/${index}-${name}-BfX3k9aQ.js`
    const encoded = Object.fromEntries(forms.map((form) => [form, keptOf(1000 + index)]))
    const type = 'text/javascript; charset=utf-8'
    return [path, { ...keptOf(3000 + index), path, type, immutable: true, encoded }]
  })
  return Buffer.from(printManifest({ files: new Map(files), spa: false }))
}

await t.test('what a site is counted as is near what it takes of memory', async (t) => {
  const release = { app_id: 'shop0001', deployment_id: null, artifact: '0', earlier: ['1'] }
  for (const forms of [[], ['br'], ['br', 'gzip']] as const) {
    const texts = [printLarge(forms, 'app'), printLarge(forms, 'größe')]
    const bytes = { get: async (_app: string, at: string) => texts[Number(at)] }
    const kept = [await readLive(bytes, release)]
    const before = await usedBytes()
    for (let count = 0; count < 3; count++) kept.push(await readLive(bytes, release))
    const grown = (await usedBytes()) - before
    const counted = kept.slice(1).reduce((sum, one) => sum + one.bytes, 0)
    t.equal(kept[3]?.site.earlier[0]?.files.size, 5000)
    const ratio = counted / grown
    t.ok(ratio > 0.9 && ratio < 1.6, `${(counted / MIB).toFixed(1)} MiB, ${ratio.toFixed(2)} of it`)
  }
})
