import fc from 'fast-check'
import { join } from 'node:path'

// A test that failed has told: the rest of its file is spared. How long it may take, Stryker judges.
Object.assign(process.env, { TAP_BAIL: '1', TAP_TIMEOUT: '600' })
// The same cases for every mutant, or a survivor may be luck; and no search for a smaller failure.
fc.configureGlobal({ seed: 1, endOnFailure: true })

// A test is known by its source; what runs is its build.
const [source = ''] = process.argv.slice(2)
await import(join(process.cwd(), 'dist', source.replace(/\.ts$/, '.js')))
