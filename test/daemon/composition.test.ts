import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { openInOrder } from '../../daemon/composition/closers.ts'
import { openPlatform } from '../../daemon/composition/open.ts'
import { startWork } from '../../daemon/composition/work.ts'
import { readConfig } from '../../daemon/config/config.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import type { OutboxStatus } from '../../daemon/worker/outbox/status.ts'
import { parseAllowList } from '../../lib/egress/url.ts'
import { createMemoryDeployer } from '../../plugins/deploy/memory.ts'
import { createNoEditor } from '../../plugins/edits/none.ts'
import { createEgressClient } from '../../plugins/egress/undici.ts'
import { createMemoryEmbedder } from '../../plugins/embeddings/memory.ts'
import { createMemoryFileProcessor } from '../../plugins/files/memory.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'
import { until } from '../support/daemon.ts'
import { createTables, sqliteBackend } from '../support/outbox.ts'

await t.test('parts are closed in reverse, each once, also after one that fails', async (t) => {
  const closed: string[] = []
  const { close, made } = await openInOrder(async (closers) => {
    closers.push(() => closed.push('a'))
    closers.push(() => closed.push('b'))
    closers.push(async () => {
      closed.push('c')
      throw new Error('c stays')
    })
    closers.push(() => closed.push('d'))
    return { made: 1 }
  })
  t.equal(made, 1)
  await t.rejects(Promise.all([close(), close()]), { message: 'c stays' })
  t.same(closed, ['d', 'c', 'b', 'a'])
})

await t.test('what was opened before a part that cannot be is closed', async (t) => {
  const closed: string[] = []
  const opening = openInOrder(async (closers) => {
    closers.push(() => closed.push('a'))
    closers.push(() => Promise.reject(new Error('b stays')))
    throw new Error('c is taken')
  })
  await t.rejects(opening, { message: 'c is taken' }, 'the cause, not what closing met')
  t.same(closed, ['a'])
})

/** Plugins that say when they are closed. */
function pluginsTelling(closed: string[]) {
  const telling = <Plugin extends object>(name: string, plugin: Plugin) => ({
    ...plugin,
    async close() {
      closed.push(name)
    },
  })
  const policy = { schemes: [], allow: parseAllowList('127.0.0.1'), ownHosts: [] }
  return {
    fileProcessor: telling('file processor', createMemoryFileProcessor()),
    egress: telling('egress', createEgressClient({ policy })),
    editor: telling('editor', createNoEditor()),
    embedder: telling('embedder', createMemoryEmbedder()),
    deployer: telling('deployer', createMemoryDeployer()),
  }
}

/** In the order in which they are closed. */
const PLUGINS = ['file processor', 'embedder', 'editor', 'deployer', 'egress']

async function openRecords(t: Test, closed: string[]) {
  const { store } = await openPlatformStore(join(t.testdir(), 'keyhook.sqlite'))
  const close = async () => {
    closed.push('records')
    await store.close()
  }
  return { store, masterKeyFile: undefined, close }
}

const given = {
  config: { ...readConfig({}), masterKey: [{ id: 'k1', key: new Uint8Array(32) }] },
  log: createLog('silent'),
  families: FAMILIES,
  baseUrl: 'http://127.0.0.1:8420',
  ownHosts: [],
}

await t.test('a platform closes its work, then every plugin once, then its records', async (t) => {
  const closed: string[] = []
  const opened = await openPlatform({
    ...given,
    plugins: pluginsTelling(closed),
    openStorage: () => openRecords(t, closed),
  })
  const { dispatcher } = opened.platform.engine
  const { stop } = dispatcher
  Object.assign(dispatcher, {
    stop: async () => {
      closed.push('work')
      await stop()
    },
  })
  await opened.start({ dispatch: true })
  await opened.close()
  await opened.close()
  t.same(closed, ['work', ...PLUGINS, 'records'])
})

await t.test('work that cannot all be started is stopped', async (t) => {
  const folder = t.testdir()
  const outbox = await createTables(sqliteBackend(folder))
  t.teardown(() => outbox.close())
  const { store } = await openPlatformStore(`${folder}/keyhook.sqlite`)
  const config = {
    ...given.config,
    billing: 'internal',
    outboxUrl: join(folder, 'shop.sqlite'),
  } as const
  const opened = await openPlatform({
    ...given,
    config,
    openStorage: async () => ({ store, masterKeyFile: undefined, close: () => store.close() }),
  })
  t.teardown(() => opened.close())
  const stopped: string[] = []
  let connected: OutboxStatus | undefined
  const { platform, metrics } = opened
  const { engine } = platform
  const parts = {
    ...given,
    config,
    platform: {
      ...platform,
      engine: {
        ...engine,
        dispatcher: {
          ...engine.dispatcher,
          stop: async () => {
            await engine.dispatcher.stop()
            stopped.push('dispatcher')
          },
        },
      },
      store: {
        ...store,
        watch: () => () => void stopped.push('watch'),
        write: async () => {
          await until('the outbox is open', async () => connected?.connected === true)
          throw new Error('no sweep')
        },
      },
    },
    metrics: { ...metrics, watchOutbox: (status: OutboxStatus) => void (connected = status) },
  }
  await t.rejects(startWork(parts, { dispatch: true }), { message: 'no sweep' })
  t.equal(connected?.connected, false)
  t.same(stopped, ['watch', 'dispatcher'])
})

await t.test('a processor that cannot be opened leaves nothing open', async (t) => {
  const closed: string[] = []
  const opening = openPlatform({
    ...given,
    config: { ...given.config, billing: join(t.testdir(), 'none.mjs') },
    plugins: pluginsTelling(closed),
    openStorage: () => openRecords(t, closed),
  })
  await t.rejects(opening, { message: /none\.mjs, which cannot be loaded/ })
  t.same(closed, [...PLUGINS, 'records'])
})
