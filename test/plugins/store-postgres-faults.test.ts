import { createServer } from 'node:net'
import t from 'tap'
import {
  publicationOf,
  sampleAccount,
  sampleDelivery,
} from '../../plugins/store/conformance/samples.ts'
import type { Store } from '../../plugins/store/contract.ts'
import { createMembership } from '../../plugins/store/sql/postgres/membership.ts'
import { countServing } from '../../plugins/store/sql/postgres/notifications.ts'
import type { PgSource } from '../../plugins/store/sql/postgres/source.ts'
import { withConnection } from '../../plugins/store/sql/postgres/with-connection.ts'
import { fromPool, fromUrl } from '../../plugins/store/sql/postgres/source.ts'
import { ask, asReason, queryOn } from '../../plugins/store/sql/postgres/statement.ts'
import { openPostgres } from '../../plugins/store/sql/postgres.ts'
import { createSqlStore } from '../../plugins/store/sql/store.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'
import { startPostgres } from '../support/postgres.ts'
import { openOn, poolOn } from '../support/postgres-clients.ts'

const NOW = 1_800_000_000_000
const UNAVAILABLE = { code: 'unavailable' }
const server = await startPostgres()
t.teardown(() => server.stop())

const insertAccount = (store: Store, id: string): Promise<void> =>
  store.write((tx) => tx.accounts.insert(sampleAccount({ id })))

await t.test('PostgreSQL: faults', async (t) => {
  const pool = poolOn(t, await server.createDatabase())
  const store = await openOn(t, pool)

  await t.test(
    'a connection that is lost in a unit is unavailable, and nothing is kept',
    async (t) => {
      const failing = store.write(async (tx) => {
        await tx.accounts.insert(sampleAccount({ id: 'acc_lost' }))
        await pool.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE state = 'idle in transaction' AND datname = current_database()`,
        )
        await tx.accounts.get('acc_lost')
      })
      await t.rejects(failing, UNAVAILABLE)
      t.equal(await store.accounts.get('acc_lost'), undefined)
      await insertAccount(store, 'acc_next')
    },
  )

  await t.test('a closed store serves no more, however late its connection ends', async (t) => {
    const other = poolOn(t, await server.createDatabase())
    const source = fromPool(other)
    const releases: (() => void)[] = []
    t.teardown(() => {
      for (const release of releases) release()
    })
    const late: PgSource = {
      ...source,
      async acquire() {
        const { client, release } = await source.acquire()
        return {
          client,
          release(broken) {
            if (broken === undefined) release()
            else releases.push(() => release(broken))
          },
        }
      },
    }
    await (await openOn(t, other)).close()
    const tables = nameTables('')
    const membership = createMembership(late, tables)
    const count = () => withConnection(source, (client) => countServing(queryOn(client), tables))
    await membership.start()
    t.equal(await count(), 1)
    await membership.end()
    t.equal(await count(), 0)
    t.equal(releases.length, 1, 'its connection is open')
  })

  await t.test('a commit whose answer is lost is unavailable, whatever came of it', async (t) => {
    const source = fromPool(pool)
    const losing: PgSource = {
      ...source,
      async acquire() {
        const { client, release } = await source.acquire()
        const lossy = Object.create(client, {
          query: {
            async value(statement: { text: string }) {
              const answer: unknown = await client.query(statement)
              if (statement.text === 'COMMIT') throw new Error('Connection terminated')
              return answer
            },
          },
        }) as typeof client
        return { client: lossy, release }
      },
    }
    let ran = 0
    const tables = nameTables('')
    const lost = createSqlStore(
      openPostgres(losing, tables, createMembership(losing, tables)),
      tables,
    )
    const failing = lost.write(async (tx) => {
      tx.afterCommit(() => ran++)
      await tx.accounts.insert(sampleAccount({ id: 'acc_unknown' }))
    })
    await t.rejects(failing, UNAVAILABLE)
    t.equal(ran, 0)
    t.notSame(await store.accounts.get('acc_unknown'), undefined)
  })

  await t.test('a deadlock is unavailable; who is left goes on', async (t) => {
    await insertAccount(store, 'acc_a')
    await insertAccount(store, 'acc_b')
    const touch = (id: string) => `UPDATE accounts SET name = 'x' WHERE id = '${id}'`
    const client = await pool.connect()
    await client.query('BEGIN')
    await client.query(touch('acc_b'))
    let crossed: Promise<unknown> = Promise.resolve()
    const unit = store.write(async (tx) => {
      await tx.accounts.setPlan('acc_a', 'pro', NOW)
      crossed = client.query(touch('acc_a')).catch((cause: unknown) => cause)
      await tx.accounts.setPlan('acc_b', 'pro', NOW)
    })
    const [result] = await Promise.allSettled([unit])
    const other = await crossed
    await client.query('ROLLBACK')
    client.release()
    const isOurs = result.status === 'rejected'
    if (isOurs) t.match(result.reason, UNAVAILABLE)
    else t.match(other, { code: '40P01' })
    await store.ping()
  })

  await t.test('what the system says of a socket is no answer of the server', async (t) => {
    for (const code of ['EPIPE', 'ECONNRESET', undefined]) {
      t.match(asReason(Object.assign(new Error('write'), { code })), UNAVAILABLE, String(code))
    }
    const answered = Object.assign(new Error('duplicate key'), { code: '23505' })
    t.equal(asReason(answered), answered)
  })

  await t.test('a statement’s own fault passes through', async (t) => {
    await t.rejects(insertAccount(store, 'acc_next'), { code: '23505' })
  })

  await t.test('a unit that hides the fault of a statement commits nothing', async (t) => {
    const failing = store.write(async (tx) => {
      await tx.accounts.insert(sampleAccount({ id: 'acc_hidden' }))
      await tx.accounts.insert(sampleAccount({ id: 'acc_hidden' })).catch(() => undefined)
    })
    await t.rejects(failing, /had failed/)
    t.equal(await store.accounts.get('acc_hidden'), undefined)
  })
})

await t.test(
  'an id that an open transaction holds refuses itself in time, and nobody else',
  async (t) => {
    const pool = poolOn(t, await server.createDatabase())
    const store = await openOn(t, pool)
    const { event, deliveries } = publicationOf(sampleDelivery('d1'))
    const twin = { event: { ...event, supplied: true }, deliveries }
    const client = await pool.connect()
    await client.query('BEGIN')
    await store.join?.(client).tx.insertPublished([twin])
    await t.rejects(
      store.publish(() => [twin]),
      /an open transaction holds the id/,
    )
    await insertAccount(store, 'acc_1')
    t.notSame(await store.accounts.get('acc_1'), undefined)
    await client.query('ROLLBACK')
    client.release()
    t.same(await store.publish(() => [twin]), ['stored'])
  },
)

/** A message of the protocol: its type, its length, and what it says. */
function message(type: string, said: Buffer | string): Buffer {
  const content = Buffer.from(said)
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(content.length + 4, 1)
  return Buffer.concat([head, content])
}

await t.test('a server that is ready and goes down in one breath ends no process', async (t) => {
  const goingDown = Buffer.concat([
    message('R', Buffer.alloc(4)),
    message('Z', 'I'),
    message('E', 'SFATAL\0C57P01\0Mterminating connection\0\0'),
  ])
  const fake = createServer((socket) => {
    socket.once('data', () => socket.end(goingDown))
  })
  await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve))
  t.teardown(() => fake.close())
  const { port } = fake.address() as { readonly port: number }
  const source = await fromUrl(`postgres://somebody@127.0.0.1:${port}/fake`)
  t.teardown(() => source.end())
  // Unheard, the error would be this process's end, and no answer at all.
  await t.rejects(
    withConnection(source, (client) => ask(client, { text: 'SELECT 1' })),
    UNAVAILABLE,
  )
})
