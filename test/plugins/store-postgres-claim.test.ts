import t from 'tap'
import type { Query } from '../../plugins/store/sql/client.ts'
import { createClaimDue } from '../../plugins/store/sql/postgres/claim.ts'
import { nameTables } from '../../plugins/store/sql/tables.ts'

/** Claims of two a time over a database that gives `due` of them; answers where each walk began. */
function walker() {
  const clock = { steady: 0 }
  const claimDue = createClaimDue(() => clock.steady)
  const tables = nameTables('keyhook_')
  let began: unknown
  async function walk(...due: readonly { readonly due: number; readonly retry?: 1 }[]) {
    const query = (async (_sql: string, bind: readonly unknown[]) => {
      began = (JSON.parse(String(bind[3])) as { beginning: number }[])[0]?.beginning
      return due.map((row, at) => ({ id: `d${at}`, webhook_id: 'wh_1', retry: 0, ...row }))
    }) as unknown as Query
    const queues = [{ webhook_id: 'wh_1', limit: 2 }]
    await claimDue(query, tables, {
      queues,
      now: 9000,
      lease_until: 9900,
      renews: false,
      token: 'c',
    })
    return began
  }
  return { clock, walk }
}

await t.test('a walk over due work', async (t) => {
  await t.test('goes on where the last one ended, while it gives all that is asked', async (t) => {
    const { walk } = walker()
    t.equal(await walk({ due: 50 }, { due: 70 }), 0)
    t.equal(await walk({ due: 70 }, { due: 90 }), 70)
    t.equal(await walk({ due: 95 }), 90)
    t.equal(await walk(), 0, 'it gave less')
  })
  await t.test('begins at the first row again a second after one did', async (t) => {
    const { clock, walk } = walker()
    await walk({ due: 50 }, { due: 70 })
    clock.steady = 600
    t.equal(await walk({ due: 80 }, { due: 90 }), 70)
    clock.steady = 1000
    t.equal(await walk({ due: 20 }, { due: 95 }), 0)
    clock.steady = 1999
    t.equal(await walk({ due: 96 }, { due: 97 }), 95)
  })
  await t.test('begins at the first row once retries are among what it gave', async (t) => {
    const { walk } = walker()
    await walk({ due: 50 }, { due: 10, retry: 1 })
    t.equal(await walk(), 0)
  })
})
