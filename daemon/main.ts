#!/usr/bin/env node
import { processTerminal } from './cli/terminal.ts'
import { runCli } from './cli/program.ts'
import { FAMILIES } from './families/index.ts'

// What is written here, the database above all, is its owner's alone.
process.umask(0o077)

// Whoever reads no further, such as `head`, has what it wanted.
process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
  if (cause.code !== 'EPIPE') throw cause
  process.exit(0)
})

process.exitCode = await runCli(process.argv.slice(2), processTerminal, FAMILIES)
