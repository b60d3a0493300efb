/** The backends of docs/other-languages.md lose no event, however they are killed. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { until } from '../support/daemon.ts'
import type { Backend } from '../support/outbox.ts'
import { postgresBackend, sqliteBackend } from '../support/outbox.ts'
import { startPostgres } from '../support/postgres.ts'
import { versionOf } from '../support/receivers/process.ts'
import type { ShopPage } from '../support/shop-page.ts'
import { SHOP_LANGUAGES, deliveredOrders, followPage } from '../support/shop-page.ts'
import { sized } from '../support/soak.ts'

/** Kills of the backend, each between the commit of an order and its delivery. */
const KILLS = sized(3, 3, 100)
/** Orders that are under way when it is killed. */
const AT_ONCE = 4
const numbered = (number: string): string => JSON.stringify({ number })

/** What a daemon that is away, or what stands in its place, may answer a verification with. */
const NO_VERDICTS: readonly (readonly [status: number, body: string])[] = [
  [502, '<html>Bad Gateway</html>'],
  [200, '{}'],
  [200, 'null'],
  [200, '{"valid":'],
  [503, '{"error":{"code":"unavailable"}}'],
]

t.setTimeout(sized(15, 24, 60) * MINUTE)

const postgres = await startPostgres()
t.teardown(() => postgres.stop())

let ran = 0
for (const { name, kind, dialect, tools } of SHOP_LANGUAGES) {
  const missing = tools.find((tool) => versionOf(tool) === undefined)
  if (missing !== undefined) {
    t.comment(`${name}: not run, ${missing[0]} is not installed`)
    t.not(process.env['CI'], 'true', `a machine of CI has ${missing[0]}`)
    continue
  }
  ran += 1
  await t.test(`${name}: the page is followed, and its shop is killed`, async (t) => {
    const folder = t.testdir({})
    const backend =
      dialect === 'sqlite'
        ? sqliteBackend(folder)
        : postgresBackend(await postgres.createDatabase())
    const page = await followPage(t, kind, backend, folder)
    const orderAs = await makeKeys(page)
    await checkAnswers(t, page, orderAs)

    const acknowledged: string[] = []
    for (let round = 0; round < KILLS; round += 1) {
      acknowledged.push(...(await killAfterCommit(t, page, orderAs.acct_1, round)))
    }
    t.ok(acknowledged.length >= KILLS, `${KILLS} kills, ${acknowledged.length} orders acknowledged`)
    const stored = await storedOrders(backend)
    t.strictSame(
      acknowledged.filter((number) => !stored.includes(number)),
      [],
      'what was acknowledged is stored',
    )
    // The page published the first by a call, without storing an order.
    const expected = [...new Set(['o_1', ...stored])].sort()
    await until('every stored order is delivered', () =>
      expected.every((number) => deliveredOrders(page.receiver).includes(number)),
    )
    t.strictSame(deliveredOrders(page.receiver), expected, 'and no other')
    t.comment(
      `${name}: ${stored.length} orders stored, ${page.receiver.requests.length} deliveries`,
    )
  })
}
t.ok(ran > 0, 'a backend of some language ran')

interface Answer {
  readonly status: number
  readonly body: unknown
}

type Order = (body: string) => Promise<Answer>

/** Orders of two accounts, each with a key of its own. */
async function makeKeys(page: ShopPage): Promise<Readonly<Record<'acct_1' | 'acct_2', Order>>> {
  const authorization = `Bearer ${await page.operatorToken()}`
  const ask = async (path: string, body: unknown, account = ''): Promise<{ key: string }> => {
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await fetch(`${page.daemon.url}${path}`, {
      method: 'POST',
      headers: account === '' ? headers : { ...headers, 'keyhook-account': account },
      body: JSON.stringify(body),
    })
    return (await response.json()) as { key: string }
  }
  await ask('/v1/accounts', { id: 'acct_2', name: 'Other' })
  const orderOf = async (account: string): Promise<Order> => {
    const { key } = await ask('/v1/keys', { name: 'soak', scopes: ['orders:*'] }, account)
    return async (body) => {
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(page.shopUrl, { method: 'POST', headers, body })
      return { status: response.status, body: await response.json() }
    }
  }
  return { acct_1: await orderOf('acct_1'), acct_2: await orderOf('acct_2') }
}

async function checkAnswers(
  t: Test,
  page: ShopPage,
  orderAs: Readonly<Record<'acct_1' | 'acct_2', Order>>,
): Promise<void> {
  const pid = await page.startShop()
  t.match(await orderAs.acct_2(numbered('o_2')), { status: 201, body: { account: 'acct_2' } })
  t.match(await orderAs.acct_1(numbered('o-78')), { status: 201, body: { number: 'o-78' } })
  for (const body of ['', 'null', '[]', '{"number":7}', '{"number":""}', '{"number":"o 5"}']) {
    t.match(await orderAs.acct_1(body), { status: 400, body: { code: 'invalid_request' } }, body)
  }
  await end(page, pid)
  for (const [status, body] of NO_VERDICTS) {
    const fake = createServer((_, response) => response.writeHead(status).end(body)).listen(0)
    await once(fake, 'listening')
    const { port } = fake.address() as AddressInfo
    const other = await page.startShop(`KEYHOOK=http://127.0.0.1:${port}`)
    const answer = await orderAs.acct_1(numbered('o_none'))
    t.match(answer, { status: 503, body: { code: 'unavailable' } }, body)
    await end(page, other)
    fake.close()
  }
}

/** Kills it once it has acknowledged an order, none of which is delivered before; answers those it acknowledged. */
async function killAfterCommit(
  t: Test,
  page: ShopPage,
  order: Order,
  round: number,
): Promise<readonly string[]> {
  const release = page.holdDeliveries()
  const pid = await page.startShop()
  const numbers = Array.from({ length: AT_ONCE }, (_, index) => `k_${round}_${index}`)
  const answers = numbers.map((number) =>
    order(numbered(number)).then(
      ({ status }) => (status === 201 ? number : undefined),
      () => undefined,
    ),
  )
  const first = await Promise.race(answers)
  await end(page, pid)
  t.not(first, undefined, 'an order is stored before the kill')
  const acknowledged = (await Promise.all(answers)).filter((number) => number !== undefined)
  release()
  return acknowledged
}

async function end({ shell }: ShopPage, pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL')
  await shell.run(`wait ${pid}`)
}

async function storedOrders(backend: Backend): Promise<readonly string[]> {
  const session = await backend.connect()
  // The server may still carry out the COMMIT of a shop that was killed: this waits for it.
  if (backend.dialect === 'postgres')
    await session.run('BEGIN; LOCK TABLE orders IN SHARE MODE; COMMIT')
  const rows = await session.rows(`SELECT number FROM orders WHERE account = 'acct_1'`)
  await session.close()
  return rows.map((row) => String(row['number']))
}
