/** Completion in real shells; zsh and fish are run where they are installed (test/soak/tools.sh). */
import { execFile, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { BUILT_IN } from '../../daemon/cli/built-in.ts'
import { runCli } from '../../daemon/cli/program.ts'

const exec = promisify(execFile)

async function scriptOf(shell: string): Promise<string> {
  let printed = ''
  const terminal = {
    env: {},
    out: (more: string) => void (printed += more),
    err: () => undefined,
    readInput: () => Promise.resolve(''),
  }
  const commands = { specs: BUILT_IN, functions: () => Promise.resolve({}) }
  await runCli(['completion', shell], terminal, commands)
  return printed
}

/** What each shell offers for a line, whose last word is being typed: a program over the file and the line. */
const SHELLS = {
  bash: [
    '-c',
    'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _keyhook; printf "%s\\n" "${COMPREPLY[@]}"',
    'bash',
  ],
  // What draws the list stands in for the line editor, which needs a terminal.
  zsh: [
    '-f',
    '-c',
    'compdef() { : }; _describe() { print -rl -- ${${(P)2}%%:*} }; compadd() { shift; print -rl -- "$@" }; ' +
      '_files() { print files }; source "$1"; shift; words=("$@"); CURRENT=$#; _keyhook',
    'zsh',
  ],
  fish: ['-c', 'source $argv[1]; complete -C (string join " " -- $argv[2..])'],
} as const

async function offered(
  shell: keyof typeof SHELLS,
  file: string,
  line: string,
): Promise<readonly string[]> {
  const words = line.split(' ')
  const { stdout } = await exec(shell, [...SHELLS[shell], file, ...words])
  const typed = words.at(-1) ?? ''
  // fish says what a word means behind a tab.
  const found = stdout.split('\n').map((row) => row.split('\t')[0] ?? '')
  return found.filter((word) => word !== '' && word.startsWith(typed))
}

for (const shell of Object.keys(SHELLS) as (keyof typeof SHELLS)[]) {
  const isInstalled = spawnSync(shell, ['-c', 'true']).status === 0
  if (process.env['CI'] === 'true') t.ok(isInstalled, `a machine of CI has ${shell}`)
  if (!isInstalled && shell !== 'bash') {
    t.comment(`${shell} is not installed: its script is not run`)
    continue
  }
  await t.test(`${shell} completes commands, options and values`, async (t) => {
    const file = join(t.testdir(), 'script')
    await writeFile(file, await scriptOf(shell))
    const complete = (line: string) => offered(shell, file, line)
    t.same(await complete('keyhook we'), ['webhook'])
    t.same(await complete('keyhook key cr'), ['create'])
    t.same(await complete('keyhook key create --na'), ['--name'])
    t.same(await complete('keyhook --json key create --sc'), ['--scopes'], 'behind an option')
    t.same(await complete('keyhook key create --name create --sc'), ['--scopes'], 'behind a value')
    t.same(
      [...(await complete('keyhook proxy-example '))].filter((one) => !one.startsWith('-')),
      ['caddy', 'nginx', 'traefik'],
    )
    const commands = await complete('keyhook ')
    t.ok(['serve', 'doctor', 'event', 'listen'].every((one) => commands.includes(one)))
  })
}

await t.test('what a summary says is not run', async (t) => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = await scriptOf(shell)
    t.notMatch(script.replaceAll(/'(?:[^'\\]|\\.|'\\'')*'/g, ''), '`')
  }
})
