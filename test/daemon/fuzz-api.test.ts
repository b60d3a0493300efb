import { lookup, Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { recursedIn } from '../fuzz-api/report.ts'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import t from 'tap'
import { STATE_ONLY, operationsOf } from '../../daemon/docs/state-only.ts'
import { FAMILIES, errorRows } from '../../daemon/families/index.ts'
import { createNameLookup } from '../../plugins/egress/resolve.ts'
import '../fuzz-api/loopback-only.ts'

await t.test(
  'the daemon of the API fuzzer asks and reaches nobody beyond its machine',
  async (t) => {
    const code = 'ENETUNREACH'
    const resolver = new Resolver()
    await t.rejects(resolver.resolve4('hooks.example.com.'), { code })
    await t.rejects(resolver.resolve6('hooks.example.com.'), { code })
    t.equal(await createNameLookup().addresses('hooks.example.com'), undefined)
    for (const host of ['192.0.2.1', '2001:db8::1', 'hooks.example.com']) {
      const [cause] = (await once(connect({ host, port: 443 }), 'error').catch((error: unknown) => [
        error,
      ])) as [unknown]
      t.match(cause, { code }, host)
    }

    const server = createServer((socket) => socket.end('here')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    const [heard] = (await once(socket, 'data')) as [Buffer]
    t.equal(heard.toString(), 'here')
    t.match(await lookup('localhost'), { address: /^(127\.0\.0\.1|::1)$/ })
  },
)

const OPERATIONS = FAMILIES.flatMap(({ operations }) => operations)

/** Codes of what the document forbids: it has the form of the body, and that a file has some bytes. */
const DOCUMENTED: ReadonlySet<string> = new Set(['invalid_source', 'invalid_edit', 'empty_file'])

await t.test('every refusal that the document allows is listed, for its operations', async (t) => {
  const rows = errorRows(FAMILIES)
  const missing = OPERATIONS.flatMap((operation) =>
    operation.errors
      .filter((code) => [400, 413, 415].includes(rows[code]?.status ?? 0) && !DOCUMENTED.has(code))
      .filter(
        (code) =>
          !STATE_ONLY.some(
            (row) => row.code === code && operationsOf(row, OPERATIONS).includes(operation.id),
          ),
      )
      .map((code) => `${operation.id} ${code}`),
  )
  t.same(missing, [])
  for (const row of STATE_ONLY) {
    const ids = operationsOf(row, OPERATIONS)
    t.not(ids.length, 0, row.code)
    if (row.operations !== undefined) t.same([...row.operations].sort(), [...ids].sort(), row.code)
  }
})

await t.test('only a generator that recurses without end is no disagreement', (t) => {
  const heading = `${'_'.repeat(9)} PUT /v1/things ${'_'.repeat(9)}\n`
  const recursion = `${heading}Runtime Error\n\nmaximum recursion depth exceeded in comparison\n\n`
  const errors = (said: string): string => `== ERRORS ==\n${said}== SUMMARY ==\n`
  t.same(recursedIn(errors(recursion)), ['PUT /v1/things'])
  t.equal(recursedIn(errors(recursion.replace('maximum', 'minimum'))), undefined)
  t.equal(recursedIn(errors(`${recursion}Runtime Error\n\nanother\n`)), undefined)
  t.equal(recursedIn(`${errors(recursion)}== FAILURES ==\n`), undefined)
  t.equal(recursedIn('== SUMMARY ==\n'), undefined)
  t.end()
})
