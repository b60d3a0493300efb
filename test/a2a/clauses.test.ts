import t from 'tap'
import { webhooksFamily } from '../../daemon/families/webhooks/family.ts'
import { discoveryFamily } from '../../daemon/families/discovery/family.ts'
import { COMMON } from './clauses-common.ts'
import { ELSEWHERE, OPTIONAL } from './clauses-optional.ts'
import { CORE } from './clauses.ts'
import { BINDINGS } from './client.ts'
import { SCOPES, createStage } from './stage.ts'

const CLAUSES = [...CORE, ...COMMON, ...OPTIONAL]

await t.test('every clause is in the table once', async (t) => {
  const ids = [...CLAUSES.map(({ id }) => id), ...Object.keys(ELSEWHERE)]
  t.equal(new Set(ids).size, ids.length)
})

for (const binding of BINDINGS) {
  await t.test(`A2A 1.0.1 over ${binding}`, async (t) => {
    const scopes = [...SCOPES, 'webhooks:*', 'discovery:read']
    const families = [webhooksFamily, discoveryFamily]
    const stage = await createStage(t, binding, { scopes, families })
    for (const { id, section, level, text, only = binding, check } of CLAUSES) {
      if (only !== binding) continue
      await t.test(`${id} (${section}, ${level}): ${text}`, async (t) => {
        await check(stage)
        t.pass('as the clause says')
      })
    }
  })
}
