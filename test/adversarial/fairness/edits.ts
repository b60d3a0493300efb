import { request } from 'node:http'
import type { Test } from 'tap'
import type { Tree } from '../../../daemon/trees/tree.ts'
import { digestOf } from '../../../daemon/trees/tree.ts'
import type { GivenOperation } from '../../../daemon/trees/apply.ts'
import { applyOperations } from '../../../daemon/trees/apply.ts'
import { STEP_BYTES } from '../../../daemon/queues/steps.ts'
import type { AccountRecord } from '../../../plugins/store/contract/accounts.ts'
import { until } from '../../support/daemon.ts'
import { createApp, editWorld, type Edit } from '../../support/edits.ts'
import { signal } from '../../support/signal.ts'
import type { AnyBody, Asker, World } from '../../support/world.ts'
import type { Checks } from '../run.ts'

const KIB = 1024
const MIB = 1024 * KIB
const FILE = 'large.txt'
/** What a patch of the file replaces, and what it puts. */
const HAPPENS = { op: 'patch', path: FILE, search: 'x', replace: 'x' } as const

/** An account with an app, and what asks in its name. */
interface Editing {
  readonly name: string
  readonly as: Asker
  readonly app: string
  edit(operations: readonly AnyBody[]): Promise<{ status: number; headers: Headers; body: AnyBody }>
}

async function addEditing(world: World, name: string, account: AccountRecord): Promise<Editing> {
  const as = world.userOf(account)
  const { body } = await world.request<{ id: string }>('POST', '/v1/apps', {
    as,
    body: { template_id: 'blank' },
  })
  const edit: Editing['edit'] = (operations) =>
    world.request<Edit>('POST', `/v1/apps/${body.id}/edits`, {
      as,
      body: { operations, base_revision: 1 },
    })
  return { name, as, app: body.id, edit }
}

/**
 * A world in which every applied edit waits for `open`, with accounts of these names. Edits are refused in
 * the end, so that each of an app applies to the same revision.
 */
async function openHeld(t: Test, ...names: readonly string[]) {
  const world = await editWorld(t)
  const accounts: Editing[] = []
  for (const name of names) accounts.push(await addEditing(world, name, await world.addAccount()))
  const { platform } = world
  const begun: string[] = []
  let asked = 0
  const { promise: opened, resolve: open } = signal()
  const nameOf = new Map(accounts.map(({ as, name }) => [accountOf(as), name]))
  const { applying } = platform.queues
  Object.assign(platform.queues, {
    applying: ((turn, work) => {
      asked += 1
      return applying(turn, async () => {
        begun.push(nameOf.get(turn.holder) ?? turn.holder)
        await opened
        return work()
      })
    }) satisfies typeof applying,
  })
  t.teardown(async () => open())
  return {
    world,
    accounts,
    begun,
    open,
    /** Until so many edits run or wait. */
    arrive: (count: number) => until(`${count} edits have come`, () => asked >= count),
  }
}

function accountOf(as: Asker): string {
  return typeof as === 'object' ? (as?.account_id ?? '') : ''
}

const WRITES = [{ op: 'write', path: 'a.txt', content: 'a' }]
const FAILS = [{ op: 'delete', path: 'nowhere' }]

/** How often others could have been served while some work went on. */
async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  function tick(): void {
    if (isOver) return
    turns += 1
    setImmediate(tick)
  }
  setImmediate(tick)
  await work()
  isOver = true
  return turns
}

function treeOf(paths: readonly string[], bytes: Uint8Array): Tree {
  const sha256 = digestOf(bytes)
  return {
    files: new Map(paths.map((path) => [path, { path, sha256, size: bytes.length }])),
    config: new Map(),
  }
}

async function turnsOf(paths: readonly string[], size: number, operations: GivenOperation[]) {
  const bytes = Buffer.from(`x${'.'.repeat(size - 1)}`)
  const tree = treeOf(paths, bytes)
  let isApplied = false
  const turns = await countTurns(async () => {
    isApplied = 'tree' in (await applyOperations(tree, operations, async () => bytes))
  })
  return { isApplied, turns }
}

export const EDIT_CHECKS: Checks = {
  async F22(t, saw) {
    const world = await editWorld(t)
    const { id } = await createApp(world)
    const content = `x${'.'.repeat(9 * MIB)}`
    const edit = (operations: readonly AnyBody[], base_revision: number) =>
      world.request<AnyBody>('POST', `/v1/apps/${id}/edits`, {
        body: { operations, base_revision },
      })
    t.equal((await edit([{ op: 'write', path: FILE, content }], 1)).status, 201)
    const sha256 = digestOf(content)
    let reads = 0
    const { appBytes } = world.platform.plugins
    if (appBytes === undefined) throw new Error('no bytes')
    const { get, open } = appBytes
    Object.assign(appBytes, {
      get: (app, digest) => {
        if (digest === sha256) reads += 1
        return get(app, digest)
      },
      open: (app, digest, range) => {
        if (digest === sha256) reads += 1
        return open(app, digest, range)
      },
    } satisfies Partial<typeof appBytes>)
    const patches = Array.from({ length: 7 }, () => HAPPENS)
    const refused = await edit([...patches, ...FAILS], 2)
    t.match(refused.body, {
      error: { errors: [{ location: 'body.operations[7]', code: 'path_not_found' }] },
    })
    const { code } = refused.body['error'] as { code: string }
    saw(`${refused.status} ${code}`)
    saw(`read ${reads} times`)
    t.equal((await edit(patches, 2)).status, 201, 'without it they are applied')
    t.equal(reads, 1, 'the file is read once for all of them')
  },

  async F23(t, saw) {
    const { accounts, begun, open, arrive } = await openHeld(t, 'a', 'b', 'c')
    const [a, b, c] = accounts as [Editing, Editing, Editing]
    const floods = [a, b].flatMap((one) => Array.from({ length: 20 }, () => one.edit(FAILS)))
    await arrive(40)
    t.same(begun, ['a', 'b'], 'one at a time of an app')
    const last = c.edit(FAILS)
    await arrive(41)
    open()
    t.equal((await last).status, 400)
    await Promise.all(floods)
    const place = begun.indexOf('c')
    saw(place <= 5 ? 'before the third of either' : `after ${place}`)
    t.same(begun.slice(6, 12).sort(), ['a', 'a', 'a', 'b', 'b', 'b'], 'they alternate')
  },

  async F24(t, saw) {
    const { accounts, begun, open, arrive } = await openHeld(t, 'a', 'b')
    const [a, b] = accounts as [Editing, Editing]
    const flood = Array.from({ length: 201 }, () => a.edit(FAILS))
    await arrive(201)
    const refused = await a.edit(FAILS)
    const { code } = refused.body['error'] as { code: string }
    saw(`${refused.status} ${code}`)
    t.equal(refused.headers.get('retry-after'), '2')
    const other = b.edit(WRITES)
    await arrive(203)
    t.same(begun, ['a', 'b'], 'the other does not wait for the 200')
    open()
    saw(`${(await other).status} to another account`)
    const answers = await Promise.all(flood)
    t.same([...new Set(answers.map(({ status }) => status))], [400])
  },

  async F25(t, saw) {
    const { world, accounts, begun, open, arrive } = await openHeld(t, 'a')
    const [a] = accounts as [Editing]
    const first = a.edit(FAILS)
    await arrive(1)
    const { key } = await world.mintKey({ scopes: ['*:*'] }, a.as)
    const { bodies } = world.traffic
    const before = bodies.heldBy(accountOf(a.as))
    const body = JSON.stringify({ operations: WRITES, base_revision: 1 })
    const leaving = request(`${world.baseUrl}/v1/apps/${a.app}/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      agent: false,
    })
    leaving.on('error', () => undefined)
    leaving.end(body)
    await arrive(2)
    t.ok(bodies.heldBy(accountOf(a.as)) > before, 'its body is held')
    leaving.destroy()
    await until('what it held is given back', () => bodies.heldBy(accountOf(a.as)) === before)
    open()
    await first
    t.equal((await a.edit(WRITES)).status, 201, 'the revision is as it was')
    saw(begun.length === 2 ? 'not begun' : `begun: ${begun.join(' ')}`)
  },

  async F26(t, saw) {
    const paths = Array.from({ length: 200 }, (_, index) => `${index}.txt`)
    const small = await turnsOf(
      paths,
      128 * KIB,
      paths.map((path) => ({ ...HAPPENS, path })),
    )
    t.ok(small.isApplied)
    saw(small.turns >= paths.length ? 'after every patch' : `${small.turns} times`)
    const large = await turnsOf([FILE], 9 * MIB, [HAPPENS])
    t.ok(large.isApplied)
    const steps = Math.floor((9 * MIB) / STEP_BYTES)
    saw(large.turns >= steps ? 'after every 256 KiB' : `${large.turns} times`)
    const deep = Array.from({ length: 10_000 }, (_, index) =>
      [...Array.from({ length: 11 }, (_, depth) => `${depth}-${index}`), 'f'].join('/'),
    )
    const many = await turnsOf(deep, 1, [{ op: 'delete', path: deep[0] ?? '' }])
    t.ok(many.isApplied)
    saw(many.turns >= 9999 / 64 - 1 ? 'after every 64 paths' : `${many.turns} times`)
  },
}
