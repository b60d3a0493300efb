import { randomBytes } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import type { Keyring, MasterKey } from '../lib/engine/keyring.ts'
import { createKeyring, parseMasterKeys } from '../lib/engine/keyring.ts'
import type { RandomBytes } from '../lib/engine/ports.ts'
import type { Store } from '../plugins/store/contract.ts'
import { ConfigError } from './config.ts'

const CHECK_NAME = 'master_key_check'
const CHECK_TEXT = 'keyhook'

/**
 * The keyring of this database, proved by a value sealed at the first start.
 *
 * @param file where a key is made for an empty database and read from ever after; undefined: nowhere
 * @throws ConfigError for keys that cannot open what is kept
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
    throw new ConfigError(
      'KEYHOOK_MASTER_KEY must be given: it seals secrets in this database. ' +
        `Make one with: echo "k1:$(openssl rand -base64 32)"`,
    )
  }
  const keyring = createKeyring(keys, random)
  const check =
    kept ??
    (await store.write((tx) =>
      tx.accounts.putMetaOnce(CHECK_NAME, keyring.seal(CHECK_TEXT, CHECK_NAME)),
    ))
  try {
    keyring.open(check, CHECK_NAME)
  } catch (cause) {
    throw new ConfigError(
      'KEYHOOK_MASTER_KEY is not the key this database was made with. Restore that key',
      { cause },
    )
  }
  return keyring
}

async function readKeyFile(file: string, mayMake: boolean): Promise<readonly MasterKey[]> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text !== undefined) return parseMasterKeys(text.trim())
  if (!mayMake) {
    throw new ConfigError(
      `KEYHOOK_MASTER_KEY is missing: the database holds sealed secrets, but ${file} is gone. ` +
        'Restore it or set the key',
    )
  }
  const made = `k1:${randomBytes(32).toString('base64')}`
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(`${made}\n`)
    // The key must outlive a power cut that the first sealed secret outlives.
    await handle.sync()
  } finally {
    await handle.close()
  }
  return parseMasterKeys(made)
}
