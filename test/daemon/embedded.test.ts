import { once } from 'node:events'
import { existsSync } from 'node:fs'
import t from 'tap'
import type { Keyhook } from '../../daemon/embed/index.ts'
import { createKeyhook } from '../../daemon/embed/index.ts'

const keyhook: Keyhook = await createKeyhook({
  dataDir: t.testdir(),
  scopes: { orders: ['read', 'write'] },
  logLevel: 'silent',
})
t.teardown(() => keyhook.stop())
const account = keyhook.as('acct_1')
const { key: token } = await account.keys.create({ name: 'reader', scopes: ['orders:*'] })

await t.test('a misspelt scope in a requirement is a mistake of the program', async (t) => {
  for (const [requirement, message] of [
    [{ scope: 'ordrs:read' }, /"ordrs:read" is not one .* Did you mean "orders:read"\? .*scopes$/],
    [{ scopes: ['orders:read', 'orders:wirte'] }, /"orders:wirte" .*"orders:write"\?/],
    [{ scope: 'orders:*' }, /"orders:\*" is not one family:action/],
    [
      { scope: 'zebra:stripes' },
      /"zebra:stripes" is not one family:action of this service\. create/,
    ],
  ] as const) {
    for (const value of [token, undefined, 'no key']) {
      const error = { name: 'TypeError', message }
      await t.rejects(keyhook.keys.verify(value, requirement), error)
    }
  }
  const { authority } = await keyhook.keys.verify(token, {
    scopes: ['orders:read', 'orders:write'],
  })
  t.strictSame([...authority.scopes], ['orders:*'])
})

await t.test(
  'a database that Keyhook cannot use is refused by its kind, without the password',
  async (t) => {
    const kinds = {
      'mysql://user:hunter2@127.0.0.1/shop': /is an address of mysql:.*SQLite or PostgreSQL/,
      'mongodb+srv://user:hunter2@127.0.0.1/shop': /is an address of mongodb\+srv:/,
      ':memory:': /must be a file/,
      'sqlite::memory:': /must be a file/,
      'file:dev.db': /must be the path of a SQLite file, sqlite:<path of a file>,.* or postgres:/,
      'sqlite:file:dev.db?mode=ro': /without file: and \?options/,
    }
    for (const [database, message] of Object.entries(kinds)) {
      const refusal = await createKeyhook({ database, logLevel: 'silent' }).catch(
        (cause: unknown) => cause,
      )
      t.match(refusal, { name: 'TypeError', message })
      t.notMatch(String((refusal as Error).message), 'hunter2')
    }
    const file = `${t.testdir()}/shop.sqlite`
    const masterKey = `k1:${Buffer.alloc(32, 1).toString('base64')}`
    const opened = await createKeyhook({
      database: `sqlite:${file}`,
      masterKey,
      logLevel: 'silent',
    })
    await opened.stop()
    t.ok(existsSync(file))
  },
)

await t.test('the folder is named in a warning where nobody gave one', async (t) => {
  const folder = t.testdir()
  const before = process.cwd()
  process.chdir(folder)
  t.teardown(() => {
    process.chdir(before)
  })
  const warned = once(process, 'warning')
  const opened = await createKeyhook({ logLevel: 'silent' })
  await opened.stop()
  const [warning] = (await warned) as [Error]
  t.match(warning.message, /neither database nor dataDir is given: .*keyhook-data$/)
})

await t.test('a refused call of the API names the field in its message', async (t) => {
  const create = account.keys.create as (given: object) => Promise<unknown>
  await t.rejects(create({ name: 'a', scope: ['orders:read'] }), {
    code: 'invalid_request',
    message: /body\.scope: /,
  })
})

await t.test('a whole Authorization header is refused with what to pass instead', async (t) => {
  for (const value of [`Bearer ${token}`, `bearer ${token}`, 'Bearer nothing']) {
    await t.rejects(keyhook.keys.verify(value, { scope: null }), {
      status: 401,
      code: 'invalid_key',
      message: /pass the token alone/,
    })
  }
})

await t.test('a call of a family that the daemon alone serves says so', async (t) => {
  const message = /operations of apps are not served here: the daemon alone has them/
  await t.rejects(account.apps.list(), { status: 404, code: 'route_not_found', message })
})
