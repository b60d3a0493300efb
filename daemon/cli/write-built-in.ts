/** A step of the build: `built-in.js` becomes its value, so that a command of the command line loads no family. */
import { writeFileSync } from 'node:fs'
import { FAMILIES } from '../families/index.ts'
import { printCommands } from '../operations/command.ts'
import { commandsOf } from '../operations/commands.ts'

const value = printCommands(commandsOf(FAMILIES).specs)
writeFileSync(new URL('built-in.js', import.meta.url), `export const BUILT_IN = ${value}\n`)
