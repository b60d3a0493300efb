import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startDaemonProcess, until } from '../support/daemon.ts'
import { blocksFor, blocksOf, openShell, settingsOf, walk } from '../support/page.ts'
import { answerWith, startReceiver } from '../support/receiver.ts'
import { versionOf } from '../support/receivers/process.ts'
import { freePort } from '../support/free-port.ts'

await t.test('every command of docs/other-languages.md does what the page says', async (t) => {
  const python = versionOf(['python3', '--version'])
  if (python === undefined) t.comment('Python is not installed: its backend was not run')
  const receiver = await startReceiver(answerWith('HTTP/1.1 204 No Content\r\n\r\n'))
  const port = await freePort()
  const shopPort = await freePort()
  const blocks = blocksOf('other-languages.md', {
    8420: port,
    9000: receiver.port,
    3000: shopPort,
  })
  const textOf = (wanted: string) => blocks.find(({ kind }) => kind === wanted)?.text ?? ''

  const folder = t.testdir({ 'shop.py': textOf('python shop.py') })
  const { PATH, HOME } = process.env
  const shell = openShell(folder, { PATH, HOME })
  await shell.run(textOf('sh token'))

  // The page's command, but for `npm ci`, which whoever runs this test has just done.
  const command = textOf('sh daemon')
  t.match(command, 'npm start -- --dev')
  const daemon = await startDaemonProcess({
    ...settingsOf(command),
    KEYHOOK_OPERATOR_TOKEN_FILE: join(folder, 'operator-token'),
    KEYHOOK_DATA_DIR: join(folder, 'data'),
    KEYHOOK_PORT: String(port),
  })
  t.teardown(async () => {
    await shell.close()
    await daemon.end('SIGTERM')
    await receiver.close()
  })

  await walk(t, blocksFor(blocks, python === undefined ? [] : ['python']), shell)

  const numbers = ['o_1', ...(python === undefined ? [] : ['o_2'])]
  await until('each order arrives', () => receiver.requests.length >= numbers.length)
  t.strictSame(numbersOf(receiver.requests), numbers, 'and no more than once each')

  if (python === undefined) return
  await t.test('what was saved before a crash is published at the next start', async (t) => {
    const save = `INSERT INTO orders (number, account) VALUES ('o_5', 'acct_1')`
    writeFileSync(
      join(folder, 'save.py'),
      `import sqlite3\nwith sqlite3.connect("orders.db") as orders: orders.execute("${save}")\n`,
    )
    await shell.run('python3 save.py; python3 shop.py 2> shop.log & SHOP=$!')
    await until('it arrives', () => receiver.requests.length > numbers.length)
    await shell.run('kill $SHOP')
    t.strictSame(numbersOf(receiver.requests), [...numbers, 'o_5'])
  })
})

/** The orders that deliveries tell of, sorted. */
function numbersOf(requests: readonly { readonly body: string }[]): readonly string[] {
  return requests
    .map(({ body }) => (JSON.parse(body) as { data: { number: string } }).data.number)
    .sort()
}
