import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ROOT } from '../arch/source.ts'

/** Runs a harness as `npm run` does, once it is built, and reads its line. */
export async function runHarness<Line>(
  name: 'crash' | 'fleet' | 'hosting/cycles',
  flags: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly code: number | null; readonly line: Line; readonly said: string }> {
  const child = spawn(process.execPath, [`dist/test/${name}/main.js`, '--json', ...flags], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed: Buffer[] = []
  const said: Buffer[] = []
  child.stdout.on('data', (part: Buffer) => printed.push(part))
  child.stderr.on('data', (part: Buffer) => said.push(part))
  const [code] = (await once(child, 'close')) as [number | null]
  const text = Buffer.concat(said).toString()
  if (printed.length === 0) throw new Error(`the harness said no result: ${text}`)
  return { code, line: JSON.parse(Buffer.concat(printed).toString()) as Line, said: text }
}
