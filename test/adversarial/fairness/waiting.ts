import { BODY_BYTES } from '../../../daemon/limits/amounts.ts'
import { until } from '../../support/daemon.ts'
import type { Edit } from '../../support/edits.ts'
import { createApp, editWorld } from '../../support/edits.ts'
import { signal } from '../../support/signal.ts'
import type { AnyBody, Asker, World } from '../../support/world.ts'
import type { Checks, Saw } from '../run.ts'

const KIB = 1024
const MIB = 1024 * KIB
/** Three edits of this size fill the pool. */
const THIRD = Math.floor(BODY_BYTES / 3)
const TWINS = 5

/**
 * Sends a request five times at once with one key. All wait for their turn before the first has it, and
 * the turns of the others begin once the first is committed.
 *
 * @param state of what the request changes
 */
export async function sendTwins(
  world: World,
  path: string,
  body: AnyBody,
  state: () => Promise<unknown>,
) {
  const { platform } = world
  const { applying } = platform.queues
  const before = await state()
  let asked = 0
  let begun = 0
  Object.assign(platform.queues, {
    applying: ((turn, work) => {
      asked += 1
      return applying(turn, async () => {
        begun += 1
        if (begun === 1) await until('all twins wait', () => asked === TWINS)
        else await until('the first is committed', async () => (await state()) !== before)
        return work()
      })
    }) satisfies typeof applying,
  })
  const headers = { 'idempotency-key': path }
  const answers = await Promise.all(
    Array.from({ length: TWINS }, () => world.request<Edit>('POST', path, { body, headers })),
  )
  Object.assign(platform.queues, { applying })
  return answers
}

export function tell(saw: Saw, answers: Awaited<ReturnType<typeof sendTwins>>): void {
  const counts = new Map<number, number>()
  for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1)
  for (const [status, count] of counts) saw(`${count} times ${status}`)
  const replayed = answers.filter(({ headers }) => headers.has('idempotency-replayed'))
  saw(`${replayed.length} replayed`)
}

export const WAITING_CHECKS: Checks = {
  async F30(t, saw) {
    const world = await editWorld(t)
    const { id } = await createApp(world)
    const edits = `/v1/apps/${id}/edits`
    const operations = [{ op: 'write', path: 'a.txt', content: 'a' }]
    const revision = async () =>
      (await world.platform.store.apps.get(world.account.id, id))?.revision
    const created = await sendTwins(world, edits, { operations, base_revision: 1 }, revision)
    tell(saw, created)
    const edit = created[0]?.body.id ?? ''
    t.same([...new Set(created.map(({ body }) => body.id))], [edit], 'all tell of one edit')
    const reverted = await sendTwins(world, `${edits}/${edit}/revert`, {}, revision)
    tell(saw, reverted)
    t.equal(new Set(reverted.map(({ body }) => body.id)).size, 1, 'all tell of one revert')
    const { body } = await world.request('GET', `/v1/apps/${id}`)
    saw(`revision ${String(body['current_revision'])}`)
  },

  async F31(t, saw) {
    const world = await editWorld(t)
    const { platform, account } = world
    const other = world.userOf(await world.addAccount())
    const { promise: released, resolve: release } = signal()
    t.teardown(async () => release())
    const { applying } = platform.queues
    let asked = 0
    let begun = 0
    Object.assign(platform.queues, {
      applying: ((turn, work) => {
        asked += 1
        return applying(turn, async () => {
          if (turn.holder !== account.id) return work()
          begun += 1
          const result = await work()
          await released
          return result
        })
      }) satisfies typeof applying,
    })
    const edit = (app: string, size: number, as: Asker = world.user) => {
      const content = 'x'.repeat(size / 2)
      const operations = ['a.txt', 'b.txt'].map((path) => ({ op: 'write', path, content }))
      const body = { operations, base_revision: 1 }
      return world.request('POST', `/v1/apps/${app}/edits`, { as, body })
    }
    const apps = [await createApp(world), await createApp(world), await createApp(world)]
    const edits: ReturnType<typeof edit>[] = []
    for (const { id } of apps) {
      edits.push(edit(id, THIRD - KIB))
      await until('it has come', () => asked === edits.length)
    }
    const made = await world.request<{ id: string }>('POST', '/v1/apps', {
      as: other,
      body: { template_id: 'blank' },
    })
    const [first, second, waiting] = edits
    const answer = edit(made.body.id, MIB, other)
    const third = await waiting
    const { code } = (third?.body['error'] ?? {}) as { readonly code?: string }
    saw(`${third?.status} ${code}`)
    release()
    saw(`${(await answer).status} to the other account`)
    for (const one of [first, second]) saw(`${(await one)?.status} to the edits that stay`)
    t.equal(begun, 2)
    t.equal(world.traffic.bodies.used, 0, 'all bytes are given back')
  },

  async F32(t, saw) {
    const world = await editWorld(t)
    const { id } = await createApp(world)
    const { appBytes } = world.platform.plugins
    if (appBytes === undefined) throw new Error('no bytes')
    const begun = new Set<string>()
    let most = 0
    const { put } = appBytes
    Object.assign(appBytes, {
      put: async (app, bytes) => {
        begun.add(app)
        most = Math.max(most, begun.size)
        // Others begin meanwhile, were they let.
        await new Promise((resolve) => setImmediate(resolve))
        const kept = await put(app, bytes)
        // A clone ends with its tree, which is kept alone and last.
        if (kept.sha256 === tree) begun.delete(app)
        return kept
      },
    } satisfies Partial<typeof appBytes>)
    const tree = (await world.platform.store.apps.revision(id, 1))?.tree
    const clones = await Promise.all(
      Array.from({ length: 10 }, () => world.request('POST', `/v1/apps/${id}/clone`, { body: {} })),
    )
    saw(`${most} clone at a time`)
    saw(`${clones.filter(({ status }) => status === 201).length} times 201`)
  },
}
