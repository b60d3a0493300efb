import t from 'tap'
import type { SourceFile } from './source.ts'
import { codeOf, sourcesIn } from './source.ts'

const lib = sourcesIn('lib')
const plugins = sourcesIn('plugins')
const daemon = sourcesIn('daemon')
const studio = sourcesIn('studio')
const all = [...lib, ...plugins, ...daemon, ...studio]

const own = (file: SourceFile): string[] =>
  file.imports.filter((one) => one.own).map(({ target }) => target)
const packages = (file: SourceFile): string[] =>
  file.imports.filter((one) => !one.own).map(({ target }) => target)
const offenders = (
  files: readonly SourceFile[],
  breaks: (file: SourceFile) => string[],
): string[] => files.flatMap((file) => breaks(file).map((target) => `${file.path} -> ${target}`))

await t.test(
  'lib imports lib alone, and node:crypto where bytes are hashed or encrypted',
  async (t) => {
    const permitted: Readonly<Record<string, ReadonlySet<string>>> = {
      'node:crypto': new Set(['lib/key/token.ts', 'lib/webhook/sign.ts', 'lib/engine/keyring.ts']),
    }
    t.same(
      offenders(lib, (file) => own(file).filter((target) => !target.startsWith('lib/'))),
      [],
    )
    t.same(
      offenders(lib, (file) =>
        packages(file).filter((name) => permitted[name]?.has(file.path) !== true),
      ),
      [],
    )
  },
)

await t.test('lib has no clock, randomness, timers, output or Buffer of its own', async (t) => {
  const impure =
    /\b(Date\.now|Math\.random|setTimeout|setInterval|setImmediate|process|console|Buffer|fetch|performance)\b/
  const receiverReadsTheClock = 'lib/webhook/verify.ts'
  t.same(
    offenders(lib, ({ path, text }) => {
      const found = impure.exec(codeOf(text))?.[0]
      const permitted = found === 'Date.now' && path === receiverReadsTheClock
      return found === undefined || permitted ? [] : [found]
    }),
    [],
  )
})

await t.test(
  'Studio is a client as any other: of the service it knows keyhook/client alone',
  async (t) => {
    // The code that it shows is that of the docs, as text.
    const receiverPage = /^docs\/receivers\/\w+\.md\?raw$/
    t.same(
      offenders(studio, (file) =>
        own(file).filter((target) => !target.startsWith('studio/') && !receiverPage.test(target)),
      ),
      [],
    )
    t.same(
      offenders(studio, (file) =>
        packages(file).filter((name) => /^(node:|keyhook)/.test(name)),
      ).filter((line) => !line.endsWith('-> keyhook/client')),
      [],
    )
    const others = [...lib, ...plugins, ...daemon]
    t.same(
      offenders(others, (file) => own(file).filter((target) => target.startsWith('studio/'))),
      [],
    )
  },
)

await t.test('what receivers import imports nothing', async (t) => {
  t.same(lib.find(({ path }) => path === 'lib/webhook/verify.ts')?.imports, [])
})

await t.test(
  'plugins import lib and their own folder, the platform the core store too',
  async (t) => {
    const room = (path: string): string => path.split('/').slice(0, 2).join('/')
    const shared = new Set([
      'plugins/conformance.ts',
      'plugins/contract.ts',
      'plugins/executable.ts',
      'plugins/openai-client.ts',
      'plugins/other-process.ts',
      'plugins/packages.ts',
      'plugins/sqlite/open.ts',
    ])
    t.same(
      offenders(
        // These two name all contracts.
        plugins.filter(({ path }) => !/^plugins\/(registry|plugin)\.ts$/.test(path)),
        (file) =>
          own(file).filter(
            (target) =>
              !target.startsWith('lib/') &&
              room(target) !== room(file.path) &&
              !shared.has(target) &&
              !(room(file.path) === 'plugins/platform' && room(target) === 'plugins/store'),
          ),
      ),
      [],
    )
  },
)

await t.test('one module loads the package sqlite3', async (t) => {
  t.same(
    all
      .filter(({ text }) => /['"]sqlite3['"]\)? as|from 'sqlite3'/.test(text))
      .map(({ path }) => path),
    ['plugins/sqlite/npm.ts'],
  )
})

await t.test('only the registry names implementations', async (t) => {
  const implementation = /^plugins\/\w+\/(?!contract)/
  t.same(
    offenders(daemon, (file) => own(file).filter((target) => implementation.test(target))),
    [],
  )
})

await t.test('families know contracts and the kernel, not what carries them', async (t) => {
  const carriers =
    /^daemon\/(http|mcp|a2a|openapi|cli|studio|telemetry|daemon\.ts|composition|main\.ts)/
  t.same(
    offenders(
      daemon.filter(({ path }) => path.startsWith('daemon/families/')),
      (file) => own(file).filter((target) => carriers.test(target)),
    ),
    [],
  )
})

await t.test('what families build on imports no family', async (t) => {
  const below = /^daemon\/(authority|billing|config|events|jobs|limits|operations|queues|trees)\//
  const files = daemon.filter(({ path }) => below.test(path))
  t.same(
    offenders(files, (file) => own(file).filter((name) => name.startsWith('daemon/families/'))),
    [],
  )
})

await t.test('the daemon creates events of declared types only', async (t) => {
  t.same(
    daemon.filter(({ text }) => /\bengine\.newEvent\(/.test(codeOf(text))).map(({ path }) => path),
    ['daemon/events/types.ts'],
  )
})

await t.test('nothing imports the command line but main', async (t) => {
  t.same(
    offenders(
      daemon.filter(({ path }) => !/^daemon\/(cli\/|main\.ts)/.test(path)),
      (file) => own(file).filter((target) => target.startsWith('daemon/cli/')),
    ),
    [],
  )
})

await t.test('no cycles, types included', async (t) => {
  const graph = new Map(all.map((file) => [file.path, own(file)]))
  const done = new Set<string>()
  const cycles: string[] = []
  function visit(path: string, line: readonly string[]): void {
    if (line.includes(path)) cycles.push([...line.slice(line.indexOf(path)), path].join(' -> '))
    else if (!done.has(path)) {
      for (const target of graph.get(path) ?? []) visit(target, [...line, path])
      done.add(path)
    }
  }
  for (const path of graph.keys()) visit(path, [])
  t.same(cycles, [])
})

await t.test('only the egress client opens connections, and only the daemon listens', async (t) => {
  const network = new Set([
    'undici',
    'node:net',
    'node:tls',
    'node:dns',
    'node:dns/promises',
    'node:https',
    'node:http2',
  ])
  // The listener, and the person at a terminal, whose addresses are their own.
  const permitted = new Set([
    'daemon/listener/listen.ts -> node:net',
    'daemon/cli/exchange.ts -> node:https',
  ])
  t.same(
    offenders(
      all.filter(({ path }) => !path.startsWith('plugins/egress/')),
      (file) => packages(file).filter((name) => network.has(name)),
    ).filter((line) => !permitted.has(line)),
    [],
  )
  // The server's types, the listeners themselves, and the client of the command line.
  const http = [
    'daemon/http/middleware/read-body.ts',
    'daemon/cli/exchange.ts',
    'daemon/embed/',
    'daemon/http/client-address.ts',
    'daemon/http/not-ready.ts',
    'daemon/http/response-end.ts',
    'daemon/listener/',
    'daemon/hosting/',
  ]
  t.same(
    offenders(all, (file) => packages(file).filter((name) => name === 'node:http')).filter(
      (line) => !http.some((path) => line.startsWith(path)),
    ),
    [],
  )
  t.same(
    offenders(all, ({ text }) => (/\bfetch\(/.test(codeOf(text)) ? ['fetch'] : [])).filter(
      // A page's own, and the person at a terminal, whose addresses are their own.
      (line) => !/^daemon\/(studio\/|cli\/follow\.ts)/.test(line),
    ),
    [],
  )
  t.same(
    all.filter(({ text }) => /\bnew OpenAI\(/.test(codeOf(text))).map(({ path }) => path),
    ['plugins/openai-client.ts'],
    'the library is given the guarded client in one place',
  )
  t.same(
    all.filter(({ text }) => /\bnew Stripe\(/.test(codeOf(text))).map(({ path }) => path),
    ['plugins/billing/stripe/client.ts'],
    'and so is the one of payments',
  )
  const brokers = new Set(['amqplib', '@redis/client'])
  t.same(
    offenders(
      all.filter(({ path }) => !path.startsWith('plugins/destinations/')),
      (file) => packages(file).filter((name) => brokers.has(name)),
    ),
    [],
    'clients of brokers, which open connections themselves, are given addresses of the operator alone',
  )
  t.same(
    offenders(all, (file) =>
      packages(file).filter(
        (name) => name.startsWith('@opentelemetry/') && name !== '@opentelemetry/api',
      ),
    ),
    ['daemon/telemetry/sdk.ts -> @opentelemetry/sdk-node'],
    'the SDK of OpenTelemetry, which opens connections itself, is given addresses of the operator alone',
  )
  const usesStripe = (file: SourceFile): boolean => packages(file).includes('stripe')
  t.same(
    all.filter(usesStripe).filter(({ path }) => !path.startsWith('plugins/billing/stripe/')),
    [],
    'nothing else knows its package',
  )
})
