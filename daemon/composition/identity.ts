import type { Clock } from '../../lib/engine/ports.ts'
import { SECOND } from '../../lib/time.ts'
import type { PaymentProcessor, ProcessorIdentity } from '../../plugins/billing/contract.ts'
import type { PlatformStore } from '../../plugins/platform/contract.ts'
import type { Processing } from '../billing/billing.ts'
import { ConfigError } from '../config/config.ts'
import { within } from './within.ts'

/** How long a start waits for the processor to say whose account it is. */
const IDENTIFY_TIMEOUT = 5 * SECOND

/**
 * Refuses another account or mode of the payment processor than that of its first start here: its records would
 * be those of another processor. One that does not answer is asked at the next start.
 *
 * @throws ConfigError
 */
export async function keepIdentity(
  store: PlatformStore,
  { name, processor }: Processing,
  clock: Clock,
): Promise<void> {
  const found = await identify(processor, clock).catch(() => undefined)
  if (found === undefined) return
  const mode = found.live ? 'live' : 'test'
  const keptMode = await keep(store, `processor_mode:${name}`, mode)
  if (keptMode !== mode) {
    throw new ConfigError(
      `KEYHOOK_BILLING is ${name} in its ${mode} mode, but this database has records of its ${keptMode} mode. Set a key of the ${keptMode} mode, or begin with an empty database`,
    )
  }
  const { account_id: account } = found
  if (account === null) return
  const kept = await keep(store, `processor_account:${name}`, account)
  if (kept === account) return
  throw new ConfigError(
    `KEYHOOK_BILLING is ${name} with the account ${account}, but this database has records of ${kept}. Set a key of ${kept}, or begin with an empty database`,
  )
}

/** @throws Error when it does not say in time, also when it ignores its signal */
async function identify(
  processor: PaymentProcessor,
  clock: Clock,
): Promise<ProcessorIdentity | undefined> {
  const stop = new AbortController()
  const answer = (async () => processor.identify?.(stop.signal))()
  return within(answer, clock, IDENTIFY_TIMEOUT, () => {
    const late = new Error(`no answer in ${IDENTIFY_TIMEOUT} ms`)
    stop.abort(late)
    return late
  })
}

/** The value of the first start. */
async function keep(store: PlatformStore, key: string, value: string): Promise<string> {
  const kept = await store.accounts.meta(key)
  return kept ?? store.write((tx) => tx.accounts.putMetaOnce(key, value))
}
