import { randomBytes } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import type { Keyring, MasterKey } from '../../lib/engine/keyring.ts'
import { createKeyring, parseMasterKeys } from '../../lib/engine/keyring.ts'
import type { RandomBytes } from '../../lib/engine/ports.ts'
import type { StoredFacts } from '../../plugins/registry.ts'
import type { Store } from '../../plugins/store/contract.ts'
import { ENCRYPTED_NAMES } from '../../plugins/store/contract/encrypted-secrets.ts'
import { ConfigError } from '../config/config.ts'
import { describeCounts } from '../families/seals/key-status.ts'
import { clockOf } from './ports.ts'

const [CHECK_NAME = ''] = ENCRYPTED_NAMES
const CHECK_TEXT = 'keyhook'

/**
 * The keyring of this database, proved by a value encrypted at the first start.
 *
 * @param file path of the key that an empty database creates and later starts read; undefined: none
 * @throws ConfigError for keys that cannot decrypt what is stored
 */
export async function openKeyring(
  configured: readonly MasterKey[] | undefined,
  file: string | undefined,
  store: Store,
  random: RandomBytes,
): Promise<Keyring> {
  const kept = await store.accounts.meta(CHECK_NAME)
  const keys = configured ?? (file && (await readKeyFile(file, kept === undefined)))
  if (keys === undefined || keys === '') {
    throw missing()
  }
  const keyring = createKeyring(keys, random)
  const check =
    kept ??
    (await store.write((tx) =>
      tx.accounts.putMetaOnce(CHECK_NAME, keyring.encrypt(CHECK_TEXT, CHECK_NAME)),
    ))
  await requireKeys(keyring, store)
  try {
    keyring.decrypt(check, CHECK_NAME)
  } catch (cause) {
    throw new ConfigError(
      'KEYHOOK_MASTER_KEY is not the key this database was made with. Restore that key',
      { cause },
    )
  }
  return keyring
}

/**
 * Refuses keys that cannot decrypt an existing database, before it is changed.
 *
 * @returns whether it holds encrypted values; without any, every key fits
 * @throws ConfigError
 */
export async function requireMasterKey(
  configured: readonly MasterKey[] | undefined,
  file: string | undefined,
  stored: StoredFacts,
  random: RandomBytes,
): Promise<boolean> {
  const kept = await stored.meta(CHECK_NAME)
  if (kept === undefined) {
    if (configured === undefined && file === undefined) throw missing()
    return false
  }
  const keys = configured ?? (file === undefined ? undefined : await readKeyFile(file, false))
  if (keys === undefined) throw missing()
  requireOpens(createKeyring(keys, random), kept)
  return true
}

function missing(): ConfigError {
  return new ConfigError(
    'KEYHOOK_MASTER_KEY must be given: it encrypts secrets in this database. ' +
      `Make one with: echo "k1:$(openssl rand -base64 32)"`,
  )
}

function requireOpens(keyring: Keyring, check: string): void {
  const [, id = ''] = check.split('.', 2)
  if (!keyring.ids.includes(id)) {
    throw new ConfigError(
      `KEYHOOK_MASTER_KEY lacks the key ${id}, with which secrets of this database are encrypted. ` +
        `Put it back, behind the first: ${keyring.ids.join(':…,')}:…,${id}:…`,
    )
  }
  try {
    keyring.decrypt(check, CHECK_NAME)
  } catch (cause) {
    throw new ConfigError(
      'KEYHOOK_MASTER_KEY is not the key this database was made with. Restore that key',
      { cause },
    )
  }
}

/** Names a key that was removed too early, with what it is needed for. */
async function requireKeys({ ids }: Keyring, store: Store): Promise<void> {
  const counts = await store.encryptedSecrets.count(clockOf(store).now())
  const missing = counts.filter(
    ({ kind, key_id }) => kind !== 'kept_answer' && !ids.includes(key_id),
  )
  const [first] = missing
  if (first === undefined) return
  const own = missing.filter(({ key_id }) => key_id === first.key_id)
  throw new ConfigError(
    `KEYHOOK_MASTER_KEY lacks the key ${first.key_id}, with which ${describeCounts(own)} ` +
      `of this database are encrypted. Put it back, behind the first: ${ids.join(':…,')}:…,` +
      `${first.key_id}:… Once \`keyhook master-key status\` calls it removable it may go`,
  )
}

async function readKeyFile(file: string, mayMake: boolean): Promise<readonly MasterKey[]> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text !== undefined) return parseMasterKeys(text.trim())
  if (!mayMake) {
    throw new ConfigError(
      `KEYHOOK_MASTER_KEY is missing: the database holds encrypted secrets, but ${file} is gone. ` +
        'Restore it or set the key',
    )
  }
  const made = `k1:${randomBytes(32).toString('base64')}`
  // Renamed when it is whole: a start that is killed meanwhile leaves no part of a key.
  const unfinished = `${file}.unfinished`
  const handle = await open(unfinished, 'w', 0o600)
  try {
    await handle.writeFile(`${made}\n`)
    // The key must survive a power cut, like the first secret encrypted with it.
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, file)
  return parseMasterKeys(made)
}
