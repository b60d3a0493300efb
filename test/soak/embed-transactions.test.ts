import { join } from 'node:path'
import { QueryTypes, Sequelize } from 'sequelize'
import t from 'tap'
import { until } from '../support/daemon.ts'
import { packKeyhook } from '../support/packed.ts'
import { startPostgres } from '../support/postgres.ts'
import type { ReceivedRequest } from '../support/receiver.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import type { Shop } from '../support/shop.ts'
import { openShop } from '../support/shop.ts'
import { sized } from '../support/soak.ts'

/** Those of docs/embed.md whose own transactions events are published in. */
const DATABASES = sized(
  ['sequelize-sqlite'] as const,
  ['sequelize-sqlite', 'sequelize-postgres', 'pool', 'drizzle', 'kysely'] as const,
)

/** A shop whose server is not asked. */
const QUIET = { server: 'node-http' } as const

/** Transactions that commit, and as many that are rolled back, all at once. */
const PAIRS = 100

const packed = await packKeyhook()
const postgres = await startPostgres()
t.teardown(async () => {
  await postgres.stop()
  await packed.remove()
})

/** Two accounts get a webhook each. What is committed then is not sent: its bytes are printed. */
const dieAfterCommit = (port: number): string => `
  import { writeSync } from 'node:fs'
  import { keyhook, payOrder } from './database.mjs'
  for (const account of ['acct_1', 'acct_2']) {
    const url = 'http://127.0.0.1:${port}/' + account
    await keyhook.as(account).webhooks.create({ url, events: ['order.paid'] })
  }
  await keyhook.dispatcher.stop()
  const { id } = await payOrder('acct_1', 'committed')
  writeSync(1, (await keyhook.platform.store.events.get('acct_1', id)).body)
  process.kill(process.pid, 'SIGKILL')
`

const DIE_WHILE_SENDING = `
  import { payOrder } from './database.mjs'
  await payOrder('acct_1', 'woken')
  process.kill(process.pid, 'SIGKILL')
`

const DIE_BEFORE_COMMIT = `
  import { keyhook } from './database.mjs'
  await keyhook.transaction(async (transaction) => {
    const event = { account_id: 'acct_2', type: 'order.paid', data: { number: 'uncommitted' } }
    await keyhook.webhooks.publish(event, { transaction })
    process.kill(process.pid, 'SIGKILL')
  })
`

/**
 * In a process that knows nothing yet, over pools of fewer connections. An order that is there already
 * rolls back the event that was published before it.
 */
const PAY_AT_ONCE = `
  import { close, payOrder } from './database.mjs'
  const numbers = Array.from({ length: ${PAIRS} }, (_, index) => 'n_' + index)
  await Promise.all(numbers.map((number) => payOrder('acct_1', number)))
  const outcomes = await Promise.allSettled(
    numbers.flatMap((number) => [payOrder('acct_2', number), payOrder('acct_1', number + '_more')]),
  )
  console.log(outcomes.map(({ status }) => status).join())
  await close()
`

for (const database of DATABASES) {
  await t.test(`${database}: rows and events are committed as one`, async (t) => {
    const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
    t.teardown(() => receiver.close())
    const isLocal = database === 'sequelize-sqlite'
    const databaseUrl = isLocal ? undefined : await postgres.createDatabase()
    const shop = await openShop(packed, {
      database,
      server: 'node-http',
      databaseUrl,
    })
    const arrived = (): ReadonlyMap<string, readonly string[]> => bodiesByNumber(receiver.requests)

    await t.test('what was committed is sent, although the process died', async (t) => {
      const bytes = await shop.run(dieAfterCommit(receiver.port), 'SIGKILL')
      t.equal(receiver.requests.length, 0, 'it was not sent before')
      await shop.run(DIE_WHILE_SENDING, 'SIGKILL')
      await shop.run(DIE_BEFORE_COMMIT, 'SIGKILL')
      await whileServing(shop, () =>
        until('both arrive', () => arrived().has('committed') && arrived().has('woken')),
      )
      t.strictSame([...new Set(arrived().get('committed'))], [bytes], 'the same bytes, each time')
      t.equal(new Set(arrived().get('woken')).size, 1)
    })

    await t.test(`of ${2 * PAIRS} at once, half rolled back, the others are sent`, async (t) => {
      const outcomes = await shop.run(PAY_AT_ONCE)
      t.equal(outcomes.trim(), Array(PAIRS).fill('rejected,fulfilled').join())
      const paid = await rowsOf(shop)
      await whileServing(shop, async (url) => {
        await until('every row that was committed', () =>
          paid.every(({ number }) => arrived().has(number)),
        )
        const headers = { cookie: 'session=ben' }
        const events = await fetch(`${url}/developer/v1/events`, { headers })
        const none = { data: [], has_more: false, next_cursor: null }
        t.strictSame(await events.json(), none, 'nothing of what was not')
      })
      t.equal(paid.length, 2 * PAIRS + 2)
      t.ok(paid.every(({ account }) => account === 'acct_1'))
      t.strictSame([...arrived().keys()].sort(), paid.map(({ number }) => number).sort())
      t.notOk(receiver.requests.some(({ head }) => head.startsWith('POST /acct_2')))
    })
  })
}

await t.test('over SQLite, a transaction that Keyhook did not begin is refused', async (t) => {
  const shop = await openShop(packed, { ...QUIET, database: 'sequelize-sqlite' })
  const printed = await shop.run(`
    import { Sequelize } from 'sequelize'
    import { close, keyhook } from './database.mjs'
    const sequelize = new Sequelize({ dialect: 'sqlite', storage: 'shop.sqlite', logging: false })
    const event = { account_id: 'acct_1', type: 'order.paid', data: {} }
    await sequelize
      .transaction((transaction) => keyhook.webhooks.publish(event, { transaction }))
      .catch(({ name, message }) => console.log(name, message))
    await close()
  `)
  t.equal(printed.trim(), 'TypeError over SQLite, transaction must be one of keyhook.transaction()')
})

await t.test('over a pool, a transaction that cannot commit is rejected', async (t) => {
  const databaseUrl = await postgres.createDatabase()
  const shop = await openShop(packed, { ...QUIET, database: 'pool', databaseUrl })
  const printed = await shop.run(`
    import pg from 'pg'
    import { close, keyhook } from './database.mjs'
    const tell = ({ message }) => console.log(message)
    await keyhook.transaction((client) => client.query('nonsense').catch(() => {})).catch(tell)
    await keyhook
      .transaction(async (client) => {
        const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
        const other = new pg.Client({ connectionString: process.env.DATABASE_URL })
        await other.connect()
        const ended = new Promise((resolve) => client.once('end', resolve))
        await other.query('SELECT pg_terminate_backend($1)', [rows[0].pid])
        await other.end()
        await ended
      })
      .catch(() => console.log('broken'))
    await keyhook.transaction((client) => client.query('SELECT 1')).then(() => console.log('alive'))
    await close()
  `)
  t.strictSame(printed.trim().split('\n'), [
    'rolled back, since a statement had failed',
    'broken',
    'alive',
  ])
})

/** The bodies that arrived for each order. */
function bodiesByNumber(
  requests: readonly ReceivedRequest[],
): ReadonlyMap<string, readonly string[]> {
  const bodies = new Map<string, string[]>()
  for (const { body } of requests) {
    const { number } = (JSON.parse(body) as { data: { number: string } }).data
    bodies.set(number, [...(bodies.get(number) ?? []), body])
  }
  return bodies
}

async function whileServing(shop: Shop, work: (url: string) => Promise<void>): Promise<void> {
  const running = await shop.start()
  try {
    await work(running.url)
  } finally {
    await running.stop()
  }
}

interface Row {
  readonly number: string
  readonly account: string
}

/** The shop's own rows, as they are in its database. */
async function rowsOf({ folder, env }: Shop): Promise<readonly Row[]> {
  const url = env['DATABASE_URL'] ?? `sqlite:${join(folder, 'shop.sqlite')}`
  const sequelize = new Sequelize(url, { logging: false })
  try {
    return await sequelize.query<Row>('SELECT number, account FROM orders', {
      type: QueryTypes.SELECT,
    })
  } finally {
    await sequelize.close()
  }
}
