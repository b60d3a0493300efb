import { headersAad, secretAad } from '../../lib/engine/targets.ts'
import { SECOND } from '../../lib/time.ts'
import type { Store } from '../../plugins/store/contract.ts'
import type {
  EncryptedText,
  EncryptedKind,
} from '../../plugins/store/contract/encrypted-secrets.ts'
import { masterKeyStatuses } from '../families/seals/key-status.ts'
import { serviceSecretAad } from '../../plugins/platform/contract/services.ts'
import type { Platform } from '../platform.ts'
import type { Log } from '../telemetry/log.ts'

/** Outcome of a re-encryption. */
export interface Reencrypted {
  readonly moved: number
  /** Skipped, because they were changed meanwhile. */
  readonly passed: number
  /** Skipped, because no given key decrypts them. */
  readonly unreadable: number
}

interface Ports extends Pick<Platform, 'keyring'> {
  readonly store: Store
}

/** Secrets per commit, so that publishing waits for a short one at most. */
const CHUNK = 100

/** Associated data (AAD) by kind of secret. */
const ASSOCIATED_DATA: Readonly<Partial<Record<EncryptedKind, (id: string) => string>>> = {
  webhook_secret: secretAad,
  webhook_headers: headersAad,
  service_secret: serviceSecretAad,
  named_value: (name) => name,
}

/**
 * Encrypts every secret with the first master key, in chunks. After a crash, the rest is found by the key
 * that it is encrypted with.
 *
 * @param onProgress called after each chunk with the total so far
 * @param isStopping checked between chunks
 */
export async function reencryptAll(
  { store, keyring }: Ports,
  onProgress: (sum: Reencrypted) => void = () => undefined,
  isStopping: () => boolean = () => false,
): Promise<Reencrypted> {
  const [current = ''] = keyring.ids
  let sum: Reencrypted = { moved: 0, passed: 0, unreadable: 0 }
  for (const kind of store.encryptedSecrets.kinds) {
    for (let after = '', full = true; full && !isStopping();) {
      const page = { after, limit: CHUNK }
      const texts = await store.encryptedSecrets.encryptedElsewhere(kind, current, page)
      const changes = texts.flatMap((text) => reencrypt({ store, keyring }, kind, text))
      const moved =
        changes.length === 0
          ? 0
          : await store.write((tx) => tx.encryptedSecrets.reencrypt(kind, changes))
      sum = {
        moved: sum.moved + moved,
        passed: sum.passed + changes.length - moved,
        unreadable: sum.unreadable + texts.length - changes.length,
      }
      if (texts.length > 0) onProgress(sum)
      full = texts.length === CHUNK
      after = texts.at(-1)?.id ?? ''
    }
  }
  return sum
}

/** Empty for a secret that no key decrypts: it is kept, in case its key is given again. */
function reencrypt(
  { keyring }: Ports,
  kind: EncryptedKind,
  { id, encrypted }: EncryptedText,
): readonly { readonly id: string; readonly from: string; readonly to: string }[] {
  const associatedData = ASSOCIATED_DATA[kind]?.(id)
  if (associatedData === undefined) throw new TypeError(`no associated data is known for ${kind}`)
  try {
    return [
      {
        id,
        from: encrypted,
        to: keyring.encrypt(keyring.decrypt(encrypted, associatedData), associatedData),
      },
    ]
  } catch {
    return []
  }
}

const AGAIN_AFTER = 10 * SECOND
/** Secrets between two log lines. */
const LOG_EVERY = 1000

/**
 * Encrypts every secret with the first master key in the background, with retries until it is done. The
 * returned function stops it and waits for the current chunk.
 */
export function startReencryption(platform: Platform, log: Log): () => Promise<void> {
  const { keyring, clock } = platform
  const [current = ''] = keyring.ids
  let isStopping = false
  let cancel = (): void => undefined
  let loggedAt: number | undefined

  function logProgress({ moved }: Reencrypted): void {
    if (moved === 0 || (loggedAt !== undefined && moved < loggedAt + LOG_EVERY)) return
    loggedAt = moved
    log.info({ moved }, `re-encrypting secrets with the master key ${current}`)
  }

  async function pass(): Promise<void> {
    const { passed, unreadable } = await reencryptAll(platform, logProgress, () => isStopping)
    if (isStopping) return
    if (unreadable > 0) {
      log.error(
        { unreadable },
        'some secrets cannot be decrypted with any master key; they are left as they are',
      )
    }
    if (passed > 0) cancel = clock.after(AGAIN_AFTER, start)
    else if (unreadable === 0 && loggedAt !== undefined) await logEnd(platform, log)
  }

  async function run(): Promise<void> {
    try {
      await pass()
    } catch (cause) {
      log.warn({ err: cause }, 're-encryption failed; retrying')
      if (!isStopping) cancel = clock.after(AGAIN_AFTER, start)
    }
  }

  let running = run()
  function start(): void {
    running = run()
  }
  return async () => {
    isStopping = true
    cancel()
    await running
  }
}

/** Logs which keys are removable now, and which later. */
async function logEnd({ store, keyring, clock }: Platform, log: Log): Promise<void> {
  const statuses = masterKeyStatuses(keyring, await store.encryptedSecrets.count(clock.now()))
  const idsOf = (wanted: string) =>
    statuses.filter(({ status }) => status === wanted).map(({ id }) => id)
  const until = Math.max(0, ...statuses.map(({ remembered_until }) => remembered_until ?? 0))
  log.info(
    {
      removable: idsOf('removable'),
      remembered: idsOf('remembered'),
      ...(until > 0 ? { until: new Date(until).toISOString() } : {}),
    },
    `every secret is encrypted with the master key ${keyring.ids[0] ?? ''}`,
  )
}
