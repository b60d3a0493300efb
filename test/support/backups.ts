import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from '../arch/source.ts'

/** What a command printed, and its exit code. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs `keyhook` in a process of its own, as an operator does. */
export function runKeyhook(
  folder: string,
  args: readonly string[],
  { input = '', env = {} }: { readonly input?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  const command = [join(ROOT, 'dist/daemon/main.js'), ...args]
  const settings = { PATH: process.env['PATH'], KEYHOOK_DATA_DIR: folder, ...env }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, command, { env: settings }, (failed, out, err) => {
      const code = failed === null ? 0 : Number(failed.code ?? 1)
      resolve({ code, out, err })
    })
    child.stdin?.end(input)
  })
}

/** Creates a backup and answers its folder. */
export async function createBackup(
  folder: string,
  to: string,
  args: readonly string[] = [],
  input = '',
): Promise<string> {
  const ran = await runKeyhook(folder, ['backup', 'create', '--to', to, '--json', ...args], {
    input,
  })
  if (ran.code !== 0) throw new Error(ran.err)
  return (JSON.parse(ran.out) as { readonly folder: string }).folder
}
