import { join, relative } from 'node:path'
import t from 'tap'
import { ConfigError, readConfig } from '../../daemon/config/config.ts'
import { openFileProcessor } from '../../daemon/composition/file-processor.ts'

const MADE = `{ sniff: () => 'text/x-own', process: async () => undefined, close: async () => undefined }`

await t.test(
  'what reads files is the built-in processor, or a module of the operator',
  async (t) => {
    const folder = t.testdir({ 'own.mjs': `export const createFileProcessor = () => (${MADE})` })
    const path = join(folder, 'own.mjs')
    const builtIn = await openFileProcessor(readConfig({}))
    t.equal(builtIn.sniff('a.pdf', Buffer.from('%PDF-1.7')), 'application/pdf')
    await builtIn.close()
    for (const name of [path, `./${relative(process.cwd(), path)}`]) {
      const own = await openFileProcessor(readConfig({ KEYHOOK_FILES_PLUGIN: name }))
      t.equal(own.sniff('a', Buffer.alloc(0)), 'text/x-own', name)
    }
  },
)

await t.test('a module that cannot serve is refused at the start, by name', async (t) => {
  const folder = t.testdir({
    'empty.mjs': '',
    'broken.mjs': 'throw new Error("it is Sunday")',
    'none.mjs': 'export const createFileProcessor = () => ({ sniff() {} })',
  })
  const refusals: readonly (readonly [string, RegExp])[] = [
    [join(folder, 'missing.mjs'), /which cannot be loaded/],
    ['no-such-package-of-anybody', /which cannot be loaded/],
    [join(folder, 'broken.mjs'), /which cannot be loaded: it is Sunday/],
    [join(folder, 'empty.mjs'), /which exports no createFileProcessor/],
    [join(folder, 'none.mjs'), /makes no file processor/],
    ['toString', /which cannot be loaded/],
  ]
  for (const [filesPlugin, message] of refusals) {
    const opening = openFileProcessor({ filesPlugin })
    await t.rejects(opening, {
      message: new RegExp(`^KEYHOOK_FILES_PLUGIN is .*${message.source}`),
    })
    await t.rejects(opening, ConfigError)
  }
})
