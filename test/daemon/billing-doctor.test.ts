import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import sqlite3 from 'sqlite3'
import t from 'tap'
import type { Check } from '../../daemon/cli/check.ts'
import { examine } from '../../daemon/cli/doctor.ts'
import { readConfig } from '../../daemon/config/config.ts'
import { startDaemon } from '../../daemon/daemon.ts'
import { createLog } from '../../daemon/telemetry/log.ts'
import { ROOT } from '../arch/source.ts'

const MEMORY = pathToFileURL(join(ROOT, 'dist/plugins/billing/memory.js')).href

/** A module of a processor in memory, whose plan costs this. */
function moduleIn(folder: string, plan_micros: number): string {
  const file = join(folder, 'tills.mjs')
  const source = `import { createMemoryProcessor } from ${JSON.stringify(MEMORY)}
    export const paymentProcessor = {
      name: 'tills',
      settings: [],
      origins: () => [],
      open: async ({ clock }) => createMemoryProcessor({ clock, plan_micros: ${plan_micros} }),
    }`
  writeFileSync(file, source)
  return file
}

function runSql(file: string, sql: string, ...bind: readonly unknown[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const database = new sqlite3.Database(file)
    database.run(sql, bind, (failed) => {
      database.close(() => (failed === null ? resolve() : reject(failed)))
    })
  })
}

const found = (checks: readonly Check[], wanted: string) =>
  checks.find(({ name }) => name === wanted)

await t.test('doctor asks the payment processor, and tells of what waits and failed', async (t) => {
  const folder = t.testdir()
  const KEYHOOK_DATA_DIR = join(folder, 'data')
  const env = {
    KEYHOOK_DATA_DIR,
    KEYHOOK_PORT: '0',
    KEYHOOK_APPS_PORT: '0',
    KEYHOOK_BILLING: moduleIn(folder, 25_000_000),
  }
  const before = await examine(env)
  t.match(found(before, 'payment processor'), { ok: true, detail: /^tills: in memory/ })
  t.equal(found(before, 'payments'), undefined, 'there is nothing yet')

  const daemon = await startDaemon(readConfig(env), createLog('silent'))
  t.match(found(await examine(env), 'payments'), { ok: true, detail: 'nothing waits' })
  const metrics = await daemon.metrics()
  for (const line of [
    'keyhook_billing_in_progress{what="holds"} 0',
    'keyhook_billing_in_progress{what="events"} 0',
    'keyhook_processor_events_total{result="failed"} 0',
    'keyhook_processor_swept_total{what="found"} 0',
  ]) {
    t.ok(metrics.includes(`${line}\n`), line)
  }
  await daemon.stop()

  const file = join(KEYHOOK_DATA_DIR, 'keyhook.db')
  const event = `INSERT INTO keyhook_processor_events
    (id, processor, type, ref_kind, ref_id, source, status, received_at)
    VALUES (?, 'tills', 'sweep', 'invoice', 'in_1', 'sweep', ?, 1)`
  await runSql(file, event, 'e1', 'failed')
  await runSql(file, event, 'e2', 'pending')
  t.match(found(await examine(env), 'payments'), {
    ok: false,
    detail: '1 events wait; 1 objects could not be applied: see the log',
  })
  await runSql(file, event, 'e3', 'done')
  t.match(found(await examine(env), 'payments'), { ok: true, detail: '1 events wait' })

  await runSql(
    file,
    `INSERT INTO keyhook_subscriptions
      (processor, id, account_id, is_plan, status, created_at, updated_at)
     VALUES ('tills', 'sub_1', 'acc_1', 1, 'active', 1, 1)`,
  )
  t.match(found(await examine({ ...env, KEYHOOK_BILLING: 'internal' }), 'payments'), {
    ok: false,
    detail: '1 subscriptions go on at a processor that is not configured',
  })
  const none = await examine({ ...env, KEYHOOK_BILLING: 'none' })
  t.equal(found(none, 'payment processor'), undefined)
})

await t.test('doctor names a plan that costs something else at the processor', async (t) => {
  const folder = t.testdir()
  const env = { KEYHOOK_DATA_DIR: join(folder, 'absent'), KEYHOOK_PORT: '0' }
  const checks = await examine({ ...env, KEYHOOK_BILLING: moduleIn(folder, 19_000_000) })
  t.match(found(checks, 'payment processor'), {
    ok: false,
    detail: 'the plan costs 19000000 micros USD',
  })
  const missing = await examine({ ...env, KEYHOOK_BILLING: join(folder, 'none.mjs') })
  t.match(found(missing, 'payment processor'), { ok: false, detail: /cannot be loaded/ })
  const misspelt = await examine({ ...env, KEYHOOK_BILLING: 'internl' })
  t.match(found(misspelt, 'payment processor'), {
    ok: false,
    detail: /is internl, not one of none, internal, stripe, which cannot be loaded/,
  })
})
