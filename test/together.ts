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

/** What the suite that runs asked for its end: tap would do it at the end of the process. The last comes first. */
const ends: (() => unknown)[] = []
t.teardown = (end) => {
  ends.unshift(end)
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
  for (const end of ends.splice(0)) await end()
  t.comment(`${file} time=${Math.round(performance.now() - begun)}ms`)
}
