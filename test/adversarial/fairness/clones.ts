import { appsFamily } from '../../../daemon/families/apps/family.ts'
import { MAX_KEPT_APPS } from '../../../daemon/families/apps/service.ts'
import { editsFamily } from '../../../daemon/families/edits/family.ts'
import { until } from '../../support/daemon.ts'
import { createApp, editWorld } from '../../support/edits.ts'
import type { World } from '../../support/world.ts'
import { createWorld } from '../../support/world.ts'
import type { Checks } from '../run.ts'

const MIB = 1024 * 1024

function bytesOf({ platform }: World) {
  const { appBytes } = platform.plugins
  if (appBytes === undefined) throw new Error('no bytes')
  return appBytes
}

/** Apps of which bytes are kept, without those that are recorded. */
async function leftOf(world: World): Promise<readonly string[]> {
  const left: string[] = []
  for await (const id of bytesOf(world).apps()) {
    if (!(await world.platform.store.apps.exists(id))) left.push(id)
  }
  return left
}

/** Lets so many clones copy their files before any of them is recorded. */
function holdCopied({ platform }: World, count: number): void {
  let copied = 0
  Object.assign(platform.queues, {
    applying: (async (_turn, work) => {
      const result = await work()
      copied += 1
      await until('all are copied', () => copied >= count)
      return result
    }) satisfies typeof platform.queues.applying,
  })
}

export const CLONE_CHECKS: Checks = {
  async F47(t, saw) {
    const world = await editWorld(t)
    const { platform, baseUrl, request } = world
    const app = await createApp(world)
    const path = `/v1/apps/${app.id}/clone`
    const { applying } = platform.queues

    holdCopied(world, 2)
    const named = await Promise.all(
      [1, 2].map(() => request('POST', path, { body: { alias: 'wanted' } })),
    )
    for (const { status, body } of named) {
      const { code } = (body['error'] ?? {}) as { readonly code?: string }
      saw(code === undefined ? String(status) : `${status} ${code}`)
    }
    t.same(await leftOf(world), [], 'of the clone whose alias was taken')

    holdCopied(world, 3)
    const headers = { 'idempotency-key': 'once' }
    const twins = await Promise.all(
      [1, 2, 3].map(() => request<{ id: string }>('POST', path, { body: {}, headers })),
    )
    t.equal(new Set(twins.map(({ body }) => body.id)).size, 1)
    t.same(await leftOf(world), [], 'of the twins')

    const { key } = await world.mintKey({ scopes: ['apps:*'] })
    for (const when of ['while it copies', 'when all is copied']) {
      const client = new AbortController()
      const leave = async (signal: AbortSignal | undefined): Promise<void> => {
        client.abort()
        await until('the server knows', () => signal?.aborted === true)
      }
      const bytes = bytesOf(world)
      const { put } = bytes
      let ended = false
      Object.assign(platform.queues, {
        applying: (async (turn, work) => {
          if (when === 'while it copies') {
            Object.assign(bytes, {
              put: async (...given) => {
                const kept = await put(...given)
                await leave(turn.signal)
                return kept
              },
            } satisfies Partial<typeof bytes>)
          }
          try {
            const result = await work()
            await leave(turn.signal)
            return result
          } finally {
            Object.assign(bytes, { put })
            ended = true
          }
        }) satisfies typeof applying,
      })
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: '{}', signal: client.signal }
      await t.rejects(fetch(baseUrl + path, init))
      await until('it has ended', () => ended)
      await until(when, async () => (await leftOf(world)).length === 0)
    }
    saw('nothing is left')
  },

  async F48(t, saw) {
    const families = [appsFamily, editsFamily]
    const rateLimits = { reads: 600, writes: 15 }
    const world = await createWorld(t, { families, rateLimits })
    const { request, operator } = world
    const made = await request<{ id: string }>('POST', '/v1/apps', {
      as: operator,
      body: { template_id: 'blank' },
    })
    const { id } = made.body
    const content = 'x'.repeat(5 * MIB)
    const operations = ['a.txt', 'b.txt'].map((path) => ({ op: 'write', path, content }))
    const body = { operations, base_revision: 1 }
    t.equal((await request('POST', `/v1/apps/${id}/edits`, { as: operator, body })).status, 201)

    const bytes = bytesOf(world)
    const { put } = bytes
    let copied = 0
    Object.assign(bytes, {
      put: async (...given) => {
        const kept = await put(...given)
        copied += kept.size
        return kept
      },
    } satisfies Partial<typeof bytes>)
    const clone = () => request('POST', `/v1/apps/${id}/clone`, { body: {} })
    const first = [await clone(), await clone()]
    saw(`${first.filter(({ status }) => status === 201).length} times 201`)
    t.ok(copied > 10 * MIB && copied < 11 * MIB, `${copied} bytes: each content once`)
    copied = 0
    const third = await clone()
    const { code } = (third.body['error'] ?? {}) as { readonly code?: string }
    saw(`${third.status} ${code}`)
    saw(`${copied} bytes copied`)
    t.same(await leftOf(world), [])
  },

  async F49(t, saw) {
    const world = await editWorld(t)
    const { platform, account, request } = world
    const { store, clock } = platform
    const { id } = await createApp(world)
    const app = await store.apps.get(account.id, id)
    if (app === undefined) throw new Error('no app')
    // With the app itself, all places but one.
    const archived = Array.from({ length: MAX_KEPT_APPS - 2 }, (_, at) => `archived${1000 + at}`)
    const now = clock.now()
    await store.write(async (tx) => {
      for (const id of archived) {
        await tx.apps.insert({ ...app, id, archived_at: now, purge_at: now })
      }
    })

    holdCopied(world, 20)
    const clone = () =>
      request<{ id: string; error?: { code: string } }>('POST', `/v1/apps/${id}/clone`, {
        body: {},
      })
    const clones = await Promise.all(Array.from({ length: 20 }, clone))
    const made = clones.filter(({ status }) => status === 201)
    const refused = clones.filter(({ body }) => body.error?.code === 'app_limit_reached')
    saw(`${made.length} times 201`)
    saw(`${refused.length} times ${refused[0]?.status} app_limit_reached`)
    t.same(await leftOf(world), [])
    saw('nothing is left')

    const path = `/v1/apps/${made[0]?.body.id}`
    t.equal((await request('DELETE', path)).status, 200, 'archiving is always possible')
    const create = () => request('POST', '/v1/apps', { body: { template_id: 'blank' } })
    const message = /Restore an archived app and use it, or wait/
    const details = { live: 1, archived: MAX_KEPT_APPS - 1 }
    const error = { code: 'app_limit_reached', message, details }
    t.match(await create(), { status: 409, body: { error } })
    saw(String((await request('POST', `${path}/restore`, { body: {} })).status))
    t.match(await create(), { status: 409, body: { error: { code: 'app_limit_reached' } } })
    t.equal(await store.write((tx) => tx.apps.purge(archived[0] ?? '', now)), true)
    saw(String((await create()).status))
  },
}
