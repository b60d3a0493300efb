import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Millis } from '../../lib/time.ts'
import { MINUTE } from '../../lib/time.ts'

/** From PyPI, in a virtual environment of its own. */
export const FUZZER = 'schemathesis==4.32.0'
const FOLDER = resolve('node_modules/.cache/fuzz-api', FUZZER.replace('==', '-'))
export const COMMAND: string = join(FOLDER, 'bin/st')
const LONGEST_INSTALL: Millis = 5 * MINUTE

const run = promisify(execFile)

/** @returns why the fuzzer cannot be installed on this machine, if it cannot */
export async function installFuzzer(): Promise<string | undefined> {
  const ready = join(FOLDER, 'ready')
  if (existsSync(ready)) return undefined
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  const venv = await attempt('python3', ['-m', 'venv', FOLDER])
  if (venv !== undefined) {
    return `python3 cannot create a virtual environment; on Debian, install python3-venv. ${venv}`
  }
  const pip = await attempt(join(FOLDER, 'bin/pip'), ['install', '--quiet', FUZZER])
  if (pip !== undefined) return `pip cannot install ${FUZZER}. ${pip}`
  await writeFile(ready, '')
  return undefined
}

/** @returns the last line of what a command that failed said */
async function attempt(command: string, args: readonly string[]): Promise<string | undefined> {
  try {
    await run(command, args, { timeout: LONGEST_INSTALL })
    return undefined
  } catch (cause) {
    const { message, stdout, stderr } = cause as {
      message: string
      stdout?: string
      stderr?: string
    }
    const said = [stderr, stdout, message].find((text) => text !== undefined && text.trim() !== '')
    return said?.trim().split('\n').at(-1) ?? ''
  }
}
