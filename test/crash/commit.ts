import { execFileSync } from 'node:child_process'

/** What is run: the commit, and whether something was changed since. */
export function readCommit(): string {
  return execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim()
}
