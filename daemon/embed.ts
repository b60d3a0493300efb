import type { IncomingMessage, ServerResponse } from 'node:http'
import type { VerifiedKey } from '../lib/engine/verifier.ts'
import { rateLimitsOf, readConfig } from './config.ts'
import { keepUses, openLocal } from './daemon.ts'
import { takeDataFolder } from './data-folder.ts'
import { FAMILIES } from './families/index.ts'
import { createApp } from './http/app.ts'
import { createResolver } from './http/resolve.ts'
import type { Platform } from './platform.ts'
import { createLog } from './telemetry/log.ts'

/** Keyhook inside your own process. */
export interface Keyhook {
  readonly keys: {
    /**
     * Whose a key is and what it may do right now.
     *
     * @throws KeyhookError `invalid_key`, `key_expired`, `key_revoked`, `account_suspended`, `unavailable`
     */
    verify(value: string): Promise<VerifiedKey>
  }
  readonly webhooks: {
    /** Publishes an event to the account's webhooks; resolves after the commit with its id. */
    publish(event: {
      readonly account_id: string
      readonly type: string
      readonly data: object
      readonly app_id?: string
    }): Promise<{ readonly id: string }>
  }
  /** The whole API as a handler for `node:http`. */
  callback(): (request: IncomingMessage, response: ServerResponse) => void
  readonly platform: Platform
  /** Lets attempts under way end, and closes the store. */
  stop(): Promise<void>
}

/**
 * Opens Keyhook in this process: records in a folder of its own, deliveries sent from here.
 *
 * @param settings by the names of docs/config.md; nothing is read from the environment
 * @throws ConfigError naming the setting that cannot be used
 * @example
 * const keyhook = await createKeyhook({ KEYHOOK_DATA_DIR: './keyhook-data' })
 * createServer(keyhook.callback()).listen(3000, '127.0.0.1')
 */
export async function createKeyhook(
  settings: Readonly<Record<string, string>> = {},
): Promise<Keyhook> {
  const config = readConfig(settings)
  const log = createLog(config.logLevel)
  const folder = await takeDataFolder(config.dataDir, 'create')
  const baseUrl = config.baseUrl ?? `http://${config.host}:${config.port}`
  const local = await openLocal(config, log, folder, baseUrl).catch(async (cause: unknown) => {
    await folder.release()
    throw cause
  })
  const { platform } = local
  await platform.engine.dispatcher.start()
  const stopUses = keepUses(platform, log)
  const handler = createApp({
    platform,
    families: FAMILIES,
    resolve: createResolver({ platform, operatorToken: config.operatorToken }),
    rateLimits: rateLimitsOf(config),
    // The embedder's own server decides which hosts it answers for.
    hosts: undefined,
    operatorToken: config.operatorToken,
    pages: [],
    log,
    metrics: local.metrics,
    isLeaving: () => false,
  }).callback()
  return {
    platform,
    keys: { verify: (value) => platform.verifier.verify(value) },
    webhooks: { publish: (event) => publish(platform, event) },
    callback: () => (request, response) => {
      void handler(request, response)
    },
    async stop() {
      await stopUses()
      await platform.engine.dispatcher.stop()
      await local.close()
      await folder.release()
    },
  }
}

async function publish(
  { engine, clock }: Platform,
  event: Parameters<Keyhook['webhooks']['publish']>[0],
): Promise<{ readonly id: string }> {
  const { account_id, type, data, app_id } = event
  const made = engine.newEvent(account_id, type, data, clock.now(), app_id ?? null)
  await engine.outbox.publish([made])
  return { id: made.id }
}
