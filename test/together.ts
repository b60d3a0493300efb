/**
 * Runs the suites that `SUITES` names one after the other in this process, which loads and compiles what they share
 * once. The argument names the group: tap names folders of tests by it.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { SECOND } from '../lib/time.ts'
import { ROOT } from './arch/source.ts'

/** For each of them, as if it were alone. */
const TIMEOUT = Number(process.env['TAP_TIMEOUT'] ?? 30) * SECOND

/** Its first call makes tap end everything once nothing is left to do, between two suites too. */
t.teardown = () => {
  throw new Error('a suite that ends with a teardown runs alone: ALONE in test/run.ts names it')
}

for (const file of (process.env['SUITES'] ?? '').split(' ')) {
  const begun = performance.now()
  const { total } = t.counts
  t.setTimeout(TIMEOUT)
  await import(pathToFileURL(join(ROOT, file)).href)
  // Behind the tests of the suite, whether or not it waited for them.
  await t.test(file, (last) => {
    last.ok(t.counts.total > total, 'it has tests')
    last.end()
  })
  t.comment(`${file} time=${Math.round(performance.now() - begun)}ms`)
}
