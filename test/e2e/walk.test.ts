import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../arch/source.ts'
import { startDaemonProcess } from '../support/daemon.ts'

interface Block {
  /** Language and the word after it: `sh`, `sh daemon`, `js receiver.mjs`, `text`. */
  readonly kind: string
  readonly text: string
}

function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(/^```([^\n]+)\n([\s\S]*?)^```$/gm)].map(([, kind = '', text = '']) => ({
    kind,
    text,
  }))
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** One shell for the whole page, as its reader has; answers what each block printed. */
function openShell(env: NodeJS.ProcessEnv): {
  run(script: string): Promise<string>
  close(): Promise<void>
} {
  const shell = spawn('sh', ['-s'], { cwd: ROOT, env, stdio: ['pipe', 'pipe', 'pipe'] })
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
  shell.stderr.on('data', read)
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

await t.test('every command of docs/start.md does what the page says', async (t) => {
  const page = readFileSync(join(ROOT, 'docs/start.md'), 'utf8')
  const port = await freePort()
  const receiverPort = await freePort()
  const here = (text: string): string =>
    text.replaceAll('127.0.0.1:8420', `127.0.0.1:${port}`).replaceAll('9000', String(receiverPort))
  const blocks = blocksOf(page).map(({ kind, text }) => ({ kind, text: here(text) }))
  const receiver = join(ROOT, `receiver-${process.pid}.mjs`)
  const folder = t.testdir()

  // The page's first command, but for `npm ci`, which whoever runs this test has just done.
  const first = blocks.find(({ kind }) => kind === 'sh daemon')?.text ?? ''
  t.match(first, /'npm ci && npm start -- --dev'/)
  const settings = Object.fromEntries(
    [...first.matchAll(/(KEYHOOK_\w+)=('[^']*'|\S+)/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll("'", ''),
    ]),
  )
  const env = { KEYHOOK_DATA_DIR: folder, KEYHOOK_PORT: String(port) }
  const daemon = await startDaemonProcess({ ...settings, ...env })
  const shell = openShell({ PATH: process.env['PATH'], HOME: process.env['HOME'], ...env })
  t.teardown(async () => {
    await shell.close()
    await daemon.end('SIGTERM')
  })

  let output = ''
  for (const [index, { kind, text }] of blocks.entries()) {
    if (kind === 'js receiver.mjs') {
      writeFileSync(receiver, text)
      t.teardown(() => shell.run(`rm -f ${receiver}`))
    } else if (kind === 'sh') {
      const ran = await shell.run(text.replaceAll('receiver.mjs', receiver))
      output = blocks[index - 1]?.kind === 'sh' ? output + ran : ran
    } else if (kind === 'text') {
      for (const line of text.trim().split('\n')) {
        const [before = '', ...others] = output.replaceAll('": ', '":').split(line)
        t.ok(others.length > 0, line, others.length > 0 ? {} : { output })
        output = before + others.join(line)
      }
    }
  }
})
