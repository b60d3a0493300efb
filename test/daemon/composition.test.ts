import t from 'tap'
import { openInOrder } from '../../daemon/composition/closers.ts'
import { openPlatform } from '../../daemon/composition/open.ts'
import { readConfig } from '../../daemon/config/config.ts'
import { FAMILIES } from '../../daemon/families/index.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { parseAllowList } from '../../lib/egress/url.ts'
import { createMemoryDeployer } from '../../plugins/deploy/memory.ts'
import { createNoEditor } from '../../plugins/edits/none.ts'
import { createEgressClient } from '../../plugins/egress/undici.ts'
import { createMemoryEmbedder } from '../../plugins/embeddings/memory.ts'
import { createMemoryFileProcessor } from '../../plugins/files/memory.ts'
import { openPlatformStore } from '../../plugins/platform/open.ts'

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
    async openStorage() {
      const { store } = await openPlatformStore(`${t.testdir()}/keyhook.sqlite`)
      const close = async () => {
        closed.push('records')
        await store.close()
      }
      return { store, masterKeyFile: undefined, close }
    },
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
  const plugins = ['deployer', 'embedder', 'editor', 'egress']
  t.same(closed, ['work', ...plugins, 'records', 'file processor'])
})

await t.test('a database that cannot be opened leaves nothing open', async (t) => {
  const closed: string[] = []
  const opening = openPlatform({
    ...given,
    plugins: pluginsTelling(closed),
    openStorage: () => Promise.reject(new Error('held by another')),
  })
  await t.rejects(opening, { message: 'held by another' })
  t.same(closed, ['file processor'], 'the one that was open by then')
})
