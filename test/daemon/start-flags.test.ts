/** `npm start`, the bench and the docs start Node alike: what is measured is what runs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../arch/source.ts'
import { MALLOC, SETTINGS } from '../bench/child.ts'

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** `daemon/main.ts` sets the other one itself. */
const COMMAND = `node ${SETTINGS.filter((flag) => flag.includes('space-size')).join(' ')} `
const VARIABLES = Object.entries(MALLOC).map(([name, value]) => `${name}=${value}`)

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
const [, memory = ''] = /^## Memory$([^]*?)^## /m.exec(read('docs/operate.md')) ?? []

for (const [name, text] of [
  ['npm start', scripts['start'] ?? ''],
  ['the command of docs/operate.md', memory],
] as const) {
  await t.test(`${name} has the flags and the variables of the bench`, async (t) => {
    t.ok(text.includes(COMMAND), COMMAND)
    for (const variable of VARIABLES) t.ok(text.includes(variable), variable)
  })
}

for (const name of ['Containerfile', 'keyhook.service']) {
  await t.test(`${name} has the variables of the bench`, async (t) => {
    const text = read(join('packaging', name))
    for (const variable of VARIABLES) t.ok(text.includes(variable), variable)
  })
}
