import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { ConfigError } from '../config/config.ts'

/** Cost of guessing a passphrase: 128 MiB and about half a second for each. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 } as const
const LEAST_CHARACTERS = 12

/** The form of an encrypted master key, as one line of text. */
const FORM = /^keyhook-master-key\.1\.([\w-]{22})\.([\w-]{16})\.([\w-]{22})\.([\w-]+)\n$/

function deriveKey(passphrase: string, salt: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, 32, COST, (failed, key) => {
      if (failed === null) resolve(key)
      else reject(failed)
    })
  })
}

/** Encrypts master keys for one backup: scrypt and AES-256-GCM. */
export async function encryptMasterKeys(
  keys: string,
  passphrase: string,
  backupId: string,
): Promise<string> {
  const salt = randomBytes(16)
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', await deriveKey(passphrase, salt), nonce)
  cipher.setAAD(Buffer.from(backupId))
  const encrypted = Buffer.concat([cipher.update(keys, 'utf8'), cipher.final()])
  const parts = [salt, nonce, cipher.getAuthTag(), encrypted].map((part) =>
    part.toString('base64url'),
  )
  return `keyhook-master-key.1.${parts.join('.')}\n`
}

/** @throws ConfigError for another passphrase, and for the file of another backup */
export async function decryptMasterKeys(
  text: string,
  passphrase: string,
  backupId: string,
): Promise<string> {
  const parts = FORM.exec(text)
  if (parts === null) throw new ConfigError('the encrypted master key of the backup is damaged')
  const [salt, nonce, tag, encrypted] = parts
    .slice(1)
    .map((part) => Buffer.from(part, 'base64url')) as [Buffer, Buffer, Buffer, Buffer]
  const decipher = createDecipheriv('aes-256-gcm', await deriveKey(passphrase, salt), nonce)
  decipher.setAAD(Buffer.from(backupId)).setAuthTag(tag)
  try {
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString()
  } catch (cause) {
    throw new ConfigError(
      'the passphrase is not that of this backup. Try the one given to create',
      {
        cause,
      },
    )
  }
}

export interface PassphraseOptions {
  readonly passphraseStdin?: boolean
  readonly passphraseFile?: string
}

/**
 * The passphrase from standard input or a file, without its line break; undefined when neither is named.
 *
 * @throws ConfigError for a short one
 */
export async function readPassphrase(
  { passphraseStdin, passphraseFile }: PassphraseOptions,
  readInput: () => Promise<string>,
): Promise<string | undefined> {
  if (passphraseStdin !== true && passphraseFile === undefined) return undefined
  const text =
    passphraseFile === undefined
      ? await readInput()
      : await readFile(passphraseFile, 'utf8').catch((cause: unknown) => {
          throw new ConfigError(`--passphrase-file ${passphraseFile} cannot be read`, { cause })
        })
  const passphrase = text.replace(/\r?\n$/, '')
  if (passphrase.length >= LEAST_CHARACTERS) return passphrase
  throw new ConfigError(`the passphrase must have at least ${LEAST_CHARACTERS} characters`)
}
