#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { BUILT_IN } from './cli/built-in.ts'
import { functionsOf } from './cli/functions.ts'
import { processTerminal } from './cli/terminal.ts'
import { runCli } from './cli/program.ts'

// V8 would allocate what most requests made in its old generation once a moment's garbage collections found it
// alive. Whatever such an object refers to then stays until the next full collection, so every later request
// is found alive too, and it never ends.
setFlagsFromString('--no-allocation-site-pretenuring')

// Files written by this process, the database above all, are readable by its owner only.
process.umask(0o077)

// A reader that closes the pipe, such as `head`, has what it wanted.
process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
  if (cause.code !== 'EPIPE') throw cause
  process.exit(0)
})

const commands = { specs: BUILT_IN, functions: functionsOf }

process.exitCode = await runCli(process.argv.slice(2), processTerminal, commands)
