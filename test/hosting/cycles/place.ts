import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Api } from '../../crash/api.ts'
import { createApi } from '../../crash/api.ts'
import type { DatabaseName } from '../../crash/database.ts'
import type { DaemonProcess } from '../../support/daemon.ts'
import { startDaemonProcess } from '../../support/daemon.ts'
import { startPostgres } from '../../support/postgres.ts'
import type { Proxy } from '../../support/proxy.ts'
import { startProxy } from '../../support/proxy.ts'
import type { Address } from './ask.ts'

/** Daemons that serve one app of one account. */
export interface Place {
  readonly apis: readonly [Api, ...Api[]]
  readonly addresses: readonly [Address, ...Address[]]
  readonly app: string
  /** Between each daemon and its database; none for a file. */
  readonly proxies: readonly Proxy[]
  /** How daemons ended that were to live on. */
  deaths(): readonly string[]
  close(): Promise<void>
}

export interface PlaceOptions {
  readonly folder: string
  readonly database: DatabaseName
  readonly daemons: number
  readonly mutant: string | undefined
}

const OPERATOR = 'the-operator-of-an-app-that-changes'
const ACCOUNT = 'cycles'

/** Of the built package; this file is in `dist` by the time that it runs. */
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const PRELOAD = pathToFileURL(join(ROOT, 'dist/test/hosting/cycles/preload.js')).href

export async function openPlace(options: PlaceOptions): Promise<Place> {
  const { folder, database, daemons, mutant } = options
  const server = database === 'postgres' ? await startPostgres() : undefined
  const url = await server?.createDatabase()
  const shared = {
    KEYHOOK_OPERATOR_TOKEN: OPERATOR,
    KEYHOOK_RATE_READS: '0',
    KEYHOOK_RATE_WRITES: '0',
    KEYHOOK_LOG_LEVEL: 'warn',
    ...(server && { KEYHOOK_MASTER_KEY: `cycles:${randomBytes(32).toString('base64')}` }),
    ...(mutant !== undefined && {
      CYCLES_MUTANT: mutant,
      NODE_OPTIONS: `--import=${PRELOAD}`,
    }),
  }
  const started: DaemonProcess[] = []
  const proxies: Proxy[] = []
  let isClosing = false
  const end = (): void => {
    for (const { child } of started) child.kill('SIGKILL')
  }
  // A harness that breaks off leaves no daemon behind.
  process.once('exit', end)
  for (let index = 0; index < daemons; index++) {
    const data = join(folder, `data-${index}`)
    await mkdir(data, { mode: 0o700 })
    const env: Record<string, string> = { ...shared, KEYHOOK_DATA_DIR: data }
    if (url !== undefined) {
      const proxy = await startProxy(url)
      proxies.push(proxy)
      env['KEYHOOK_DATABASE_URL'] = proxy.url
    }
    started.push(await startDaemonProcess(env, ROOT))
  }
  const urls = started.map(({ url }) => url)
  const body = { name: ACCOUNT, id: ACCOUNT }
  await createApi(urls, OPERATOR).ask('POST', '/v1/accounts', body)
  const apis = urls.map((url) => createApi([url], OPERATOR, ACCOUNT))
  const given = { template_id: 'blank', alias: 'cycles' }
  const made = await createApi(urls, OPERATOR, ACCOUNT).ask('POST', '/v1/apps', given)
  const app = String(made['id'])
  const addresses = await Promise.all(
    apis.map(async (api) => {
      const { production_url: url } = await api.ask('GET', `/v1/apps/${app}`)
      const { hostname: host, port } = new URL(String(url))
      return { host, port: Number(port) }
    }),
  )
  return {
    apis: apis as [Api, ...Api[]],
    addresses: addresses as [Address, ...Address[]],
    app,
    proxies,
    deaths: () =>
      started.flatMap(({ child, output }, index) =>
        isClosing || (child.exitCode === null && child.signalCode === null)
          ? []
          : [`daemon ${index}: ${output().slice(-2000)}`],
      ),
    async close() {
      isClosing = true
      process.off('exit', end)
      await Promise.all(started.map((daemon) => daemon.end('SIGKILL')))
      await Promise.all(proxies.map((proxy) => proxy.close()))
      await server?.stop()
    },
  }
}
