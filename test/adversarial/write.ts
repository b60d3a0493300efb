/**
 * Part of `npm run docs`: writes docs/security-cases.md.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { printPage } from './table.ts'

const [, , folder = 'docs'] = process.argv
writeFileSync(join(folder, 'security-cases.md'), `${printPage()}\n`)
