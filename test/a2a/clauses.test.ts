import t from 'tap'
import { CLAUSES } from './clauses.ts'
import { BINDINGS } from './client.ts'
import { createStage } from './stage.ts'

await t.test('every clause is in the table once', async (t) => {
  t.equal(new Set(CLAUSES.map(({ id }) => id)).size, CLAUSES.length)
})

for (const binding of BINDINGS) {
  await t.test(`A2A 1.0.1 over ${binding}`, async (t) => {
    const stage = await createStage(t, binding)
    for (const { id, section, level, text, only = binding, check } of CLAUSES) {
      if (only !== binding) continue
      await t.test(`${id} (${section}, ${level}): ${text}`, async (t) => {
        await check(stage)
        t.pass('as the clause says')
      })
    }
  })
}
