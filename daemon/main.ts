#!/usr/bin/env node
import { processTerminal } from './cli/terminal.ts'
import { runCli } from './cli/program.ts'
import { FAMILIES } from './families/index.ts'

// Files written by this process, the database above all, are readable by its owner only.
process.umask(0o077)

// A reader that closes the pipe, such as `head`, has what it wanted.
process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
  if (cause.code !== 'EPIPE') throw cause
  process.exit(0)
})

process.exitCode = await runCli(process.argv.slice(2), processTerminal, FAMILIES)
