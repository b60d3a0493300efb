import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { ROOT } from '../arch/source.ts'

/** A block of code on a page of docs/. */
export interface Block {
  /** Language and what follows it: `sh`, `sh daemon`, `js receiver.mjs`, `text`. */
  readonly kind: string
  readonly text: string
}

/** Replaces the left by the right, such as a page's port by a free one. */
export type Replacements = Readonly<Record<string, string | number>>

/** The blocks of a page in their order, as its reader adapts them. */
export function blocksOf(page: string, replacements: Replacements = {}): readonly Block[] {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8')
  const froms = Object.keys(replacements).map((from) => from.replaceAll(/\W/g, '\\$&'))
  // In one pass, so that nothing is replaced within what was put in.
  const adapted = text.replaceAll(new RegExp(froms.join('|') || '$^', 'g'), (from) =>
    String(replacements[from]),
  )
  return [...adapted.matchAll(/^```([^\n]+)\n([\s\S]*?)^```$/gm)].map(
    ([, kind = '', text = '']) => ({ kind, text }),
  )
}

/** Those for every reader, and those for readers with one of these languages: `sh python` is `sh`. */
export function blocksFor(
  blocks: readonly Block[],
  languages: readonly string[],
): readonly Block[] {
  return blocks.flatMap(({ kind, text }) => {
    const [language = '', condition] = kind.split(' ')
    const isFor = condition === undefined || languages.includes(condition)
    return isFor ? [{ kind: language, text }] : []
  })
}

/** The settings that a page's command starts a daemon with. */
export function settingsOf(command: string): Readonly<Record<string, string>> {
  const given = command.matchAll(/(KEYHOOK_\w+)=('[^']*'|\S+)/g)
  return Object.fromEntries(
    Array.from(given, ([, name = '', value = '']) => [name, value.replaceAll("'", '')]),
  )
}

/** One shell for a whole page, as its reader has; answers what each script printed. */
export interface Shell {
  run(script: string): Promise<string>
  close(): Promise<void>
}

export function openShell(cwd: string, env: NodeJS.ProcessEnv): Shell {
  const shell = spawn('sh', ['-s'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
  // In one pipe: what a script writes to a second would arrive beside the output of the next.
  shell.stdin.write('exec 2>&1\n')
  let printed = ''
  const marks = new Map<string, (output: string) => void>()
  const read = (chunk: Buffer): void => {
    printed += chunk.toString()
    const [whole, mark = ''] = /<<(\d+)>>\n/.exec(printed) ?? []
    const done = marks.get(mark)
    if (whole === undefined || done === undefined) return
    marks.delete(mark)
    done(printed.replace(whole, ''))
    printed = ''
  }
  shell.stdout.on('data', read)
  let last = 0
  return {
    run: (script) =>
      new Promise((resolve) => {
        last++
        marks.set(String(last), resolve)
        shell.stdin.write(`${script}\necho "<<${last}>>"\n`)
      }),
    async close() {
      const exited = once(shell, 'exit')
      shell.stdin.end()
      await exited
    },
  }
}

/** How often half a second is waited for a line that something in the background prints. */
const MOST_LOOKS = 60

/** Runs the `sh` blocks of a page: what they print must hold each line of the `text` that follows. */
export async function walk(t: Test, blocks: readonly Block[], shell: Shell): Promise<void> {
  let output = ''
  for (const [index, { kind, text }] of blocks.entries()) {
    if (kind === 'sh') {
      const ran = compact(await shell.run(text))
      output = blocks[index - 1]?.kind === 'sh' ? output + ran : ran
    } else if (kind === 'text') {
      for (const line of compact(text).trim().split('\n')) {
        for (let looks = 0; looks < MOST_LOOKS && !output.includes(line); looks += 1)
          output += compact(await shell.run('sleep 0.5'))
        const [before = '', ...others] = output.split(line)
        t.ok(others.length > 0, line, others.length > 0 ? {} : { output })
        output = before + others.join(line)
      }
    }
  }
}

/** JSON reads the same however it was set. */
function compact(text: string): string {
  return text.replaceAll('": ', '":')
}
