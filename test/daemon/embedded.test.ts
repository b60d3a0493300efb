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
