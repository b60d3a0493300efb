import type { Clock } from '../../../lib/engine/ports.ts'
import { SECOND } from '../../../lib/time.ts'
import type { ContractName, Contracts } from '../../../plugins/plugin.ts'
import { CONTRACTS } from '../../../plugins/plugin.ts'
import type { FileProcessor } from '../../../plugins/files/contract.ts'
import { combineReaders } from '../../../plugins/registry.ts'
import { ConfigError } from '../../config/config.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Closers } from '../closers.ts'
import type { Outbound } from '../outbound.ts'
import { openOutbound, openPublicOutbound } from '../outbound.ts'
import { within } from '../within.ts'
import { reasonOf } from './import-module.ts'
import type { LoadedPlugin } from './load.ts'

/** Time in which a plugin must be created: without a limit, one that waits would hang the start unseen. */
const CREATE_TIMEOUT = 60 * SECOND
/** Maximum bytes of one response, which is read as a stream. */
const MAX_ANSWER = 1_073_741_824
const AT_ONCE = 64

export interface PluginMachine {
  readonly clock: Clock
  readonly log: Log
  /** Addresses of this process, which plugins must not reach. */
  readonly ownHosts: readonly string[]
}

/**
 * Creates the implementation of a plugin. When it is closed, its signal aborts first, and its connections
 * close last.
 *
 * @throws ConfigError of one line
 */
export async function createPlugin<Name extends ContractName>(
  { label, plugin, options }: LoadedPlugin<Name>,
  { clock, log, ownHosts }: PluginMachine,
  closers: Closers,
): Promise<Contracts[Name]> {
  const { contract, name, network } = plugin
  const stop = new AbortController()
  try {
    const outbound = await openNetwork(network, options, ownHosts)
    closers.push(() => outbound.close())
    const logger = log.child({ plugin: name })
    const creating = (async (): Promise<unknown> =>
      plugin.create({
        options,
        logger: loggerOf(logger),
        clock,
        signal: stop.signal,
        fetch: outbound.fetch,
      }))()
    // Before anything is required of it, which may stop the start.
    closers.push(closerOf(creating, logger))
    closers.push(() => {
      stop.abort(new Error('the service stops'))
    })
    const made = await within(
      creating,
      clock,
      CREATE_TIMEOUT,
      () => new Error(`it was not created within ${CREATE_TIMEOUT / SECOND} s`),
    )
    if (!isMade(contract, made)) {
      throw new Error(`what it creates lacks ${missingOf(contract, made).join(', ')}`)
    }
    if (contract === 'files') await combineReaders([made as FileProcessor])
    return made as Contracts[Name]
  } catch (cause) {
    stop.abort(cause)
    throw new ConfigError(`${label}, which cannot be opened: ${reasonOf(cause)}`, { cause })
  }
}

/** Closes what was created. What is created only later is closed then, and not waited for. */
function closerOf(creating: Promise<unknown>, log: Log): () => Promise<void> {
  let isCreated = false
  const created = creating.then(
    (made) => {
      isCreated = true
      return made
    },
    () => {
      isCreated = true
    },
  )
  return async () => {
    const closing = created.then(close)
    if (isCreated) return closing
    closing.catch((cause: unknown) => {
      log.warn({ err: cause }, 'plugin.close_failed: it was created after the time for it')
    })
  }
}

/** Whatever it lacks: it may hold something open. */
async function close(made: unknown): Promise<void> {
  const { close: closes } = (made ?? {}) as { readonly close?: unknown }
  if (typeof closes === 'function') await closes.call(made)
}

function openNetwork(
  network: LoadedPlugin['plugin']['network'],
  options: LoadedPlugin['options'],
  ownHosts: readonly string[],
): Promise<Outbound> {
  const limits = { ownHosts, atOnce: AT_ONCE, answer: MAX_ANSWER }
  if (network?.policy === 'public') return openPublicOutbound(limits)
  return openOutbound(network?.origins(options) ?? [], limits)
}

function loggerOf(log: Log) {
  const write =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: object, message: string): void => {
      log[level](fields, message)
    }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

function missingOf(contract: ContractName, made: unknown): readonly string[] {
  const given = (made ?? {}) as Readonly<Record<string, unknown>>
  return CONTRACTS[contract].filter((method) => typeof given[method] !== 'function')
}

function isMade(contract: ContractName, made: unknown): made is object {
  return missingOf(contract, made).length === 0
}
