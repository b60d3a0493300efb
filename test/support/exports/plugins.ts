import type { Declared } from './mutate.ts'

const file = { path: 'index.html', sha256: 'a'.repeat(64), size: 1 }
const served = { ...file, type: 'text/html', immutable: false, encoded: {} }
const manifest = { files: new Map([[served.path, served]]), spa: false }
const error = (code: string): Declared => ({
  construct: true,
  args: [code, { internal: 'why', cause: new Error('why') }],
  optional: ['1', '1.internal', '1.cause'],
  also: { '1.cause': ['any'] },
})
const table = (code: string): Declared => ({
  args: [code, { internal: 'why', cause: new Error('why') }],
  optional: ['1', '1.internal', '1.cause'],
  also: { '1.cause': ['any'] },
})
const NOTHING: Declared = { args: [] }

/** A right call of each function of `keyhook/plugins/…`, by entry and name. */
export const PLUGINS: Readonly<Record<string, Declared>> = {
  './plugins/conformance#runCases': {
    args: [
      [{ name: 'it holds', run: () => Promise.resolve() }],
      () => Promise.resolve({}),
      () => undefined,
      ['large'],
    ],
    records: ['0.0'],
    optional: ['3'],
    empty: ['3'],
  },
  './plugins#definePlugin': {
    args: [
      {
        contract: 'apps',
        name: 'bucket',
        options: { bucket: { env: 'BUCKET', doc: 'Name.', required: true, secret: true } },
        network: { policy: 'public' },
        create: () => Promise.resolve({}),
      },
    ],
    optional: ['0.options', '0.network', '0.options.bucket.required', '0.options.bucket.secret'],
    maps: ['0.options'],
    records: ['0.network'],
  },
  './plugins/apps#bytesError': table('bytes_gone'),
  './plugins/apps/memory#createMemoryBytes': {
    args: [{ clock: { now: () => 1 } }],
    records: ['0.clock'],
  },
  './plugins/billing#ProcessorError': error('unavailable'),
  './plugins/billing/memory#createMemoryProcessor': {
    args: [{ clock: { now: () => 1 }, currency: 'USD', plan_micros: 25_000_000 }],
    records: ['0.clock'],
    optional: ['0.currency', '0.plan_micros'],
  },
  './plugins/deploy#DeployError': error('nothing_to_serve'),
  './plugins/deploy#printManifest': { args: [manifest], records: ['0'] },
  './plugins/deploy#readManifest': {
    args: [JSON.stringify({ version: 1, spa: false, files: [] })],
  },
  './plugins/deploy#plainManifest': {
    args: [[file], new Map([['spa_fallback', 'true']])],
    records: ['0.0'],
    empty: ['0'],
  },
  './plugins/deploy/memory#createMemoryDeployer': NOTHING,
  './plugins/destinations/memory#createMemoryDestination': {
    args: [{ type: 'memory', names: ['orders'] }],
    optional: ['0', '0.type', '0.names'],
  },
  './plugins/edits#EditError': error('deadline'),
  './plugins/edits#abortError': { args: [AbortSignal.abort()] },
  './plugins/edits/memory#createMemoryEditor': {
    args: [{ script: () => [] }],
    optional: ['0', '0.script'],
  },
  './plugins/edits/memory#readPrompt': {
    args: [{ prompt: '[]' }, {}],
    optional: ['1'],
    records: ['0', '1'],
  },
  './plugins/embeddings#EmbeddingError': {
    construct: true,
    args: ['embeddings_invalid', { internal: 'why', cause: new Error('why'), wait: 5 }],
    optional: ['1', '1.internal', '1.cause', '1.wait'],
    also: { '1.cause': ['any'] },
  },
  './plugins/embeddings/memory#createMemoryEmbedder': {
    args: [{ model: 'fake', dimensions: 8, same: [['car', 'automobile']] }],
    optional: ['0', '0.model', '0.dimensions', '0.same'],
  },
  './plugins/files#fileError': table('empty_file'),
  './plugins/files/memory#createMemoryFileProcessor': NOTHING,
  './plugins/files/readers#createBuiltInReader': {
    args: [{ children: 2 }],
    optional: ['0', '0.children'],
  },
  './plugins/files/readers#combineReaders': {
    args: [
      [
        {
          reads: [{ media_type: 'text/x-own', label: 'own' }],
          sniff: () => undefined,
          process: () => Promise.resolve(),
          close: () => Promise.resolve(),
        },
      ],
    ],
    records: ['0.0', '0.0.reads.0'],
  },
  './plugins/store/memory#createMemoryStore': NOTHING,
  './plugins/store/sql#createOneWriterClient': {
    args: [
      {
        dialect: { name: 'sqlite' },
        read: () => Promise.resolve([]),
        search: () => Promise.resolve([]),
        statement: () => Promise.resolve([]),
        transact: () => Promise.resolve(),
        join: () => () => Promise.resolve([]),
        close: () => Promise.resolve(),
      },
    ],
    optional: ['0.search', '0.join'],
    records: ['0.dialect'],
  },
  './plugins/store/sql#createPostgresDialect': NOTHING,
  './plugins/store/sql#numbered': { args: ['SELECT $1'] },
  './plugins/store/sqlite#openStore': {
    args: ['store.sqlite', { tablePrefix: 'shop_', inspect: () => undefined }],
    optional: ['1', '1.tablePrefix', '1.inspect'],
    also: { 0: ['object'] },
  },
  './plugins/store/sqlite#openSqliteStore': {
    args: ['store.sqlite', { tablePrefix: 'shop_', inspect: () => undefined }],
    optional: ['1', '1.tablePrefix', '1.inspect'],
  },
  './plugins/store/sqlite#openPostgresStore': {
    args: ['postgres://127.0.0.1:9/none', { tablePrefix: 'shop_', inspect: () => undefined }],
    optional: ['1', '1.tablePrefix', '1.inspect'],
    also: { 0: ['object'] },
  },
}
