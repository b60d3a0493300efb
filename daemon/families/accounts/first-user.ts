import type { Millis } from '../../../lib/time.ts'
import { MINUTE } from '../../../lib/time.ts'
import type { AccountReads } from '../../../plugins/store/contract/accounts.ts'
import type { StoreTx } from '../../../plugins/store/contract.ts'
import type { Platform } from '../../platform.ts'
import type { Passwords } from './password.ts'
import { createPasswords } from './password.ts'
import { credentials } from './schema.ts'
import { insertAccount } from '../../authority/accounts.ts'
import { insertUser } from './service.ts'
import { hashSecret, mintSecret } from './session.ts'

const LINK_LIFE: Millis = 60 * MINUTE

export interface FirstUserOptions {
  /** With `password`: the user to create when there is none. */
  readonly email?: string | undefined
  readonly password?: string | undefined
  /** Address of the setup page, without a trailing slash. */
  readonly baseUrl: string
  /** Default: scrypt at its full cost. */
  readonly passwords?: Passwords
}

/**
 * Ensures that somebody can sign in: creates the first user, or opens a setup link for 60 minutes, which
 * ends every earlier link. Of several daemons that start at once, one creates.
 *
 * @returns the link to show to whoever started the daemon; undefined when there is a user
 * @throws Error when the given address or password is not acceptable
 */
export async function ensureFirstUser(
  platform: Platform,
  options: FirstUserOptions,
): Promise<string | undefined> {
  const { store, clock } = platform
  if (await hasUser(store.accounts)) return undefined
  if (options.email !== undefined && options.password !== undefined) {
    await createFirstUser(platform, options)
    return undefined
  }
  const token = mintSecret(platform)
  const opened = await store.write(async (tx) => {
    if (!(await isFirst(tx))) return false
    await tx.accounts.putSetupLink(hashSecret(token), clock.now() + LINK_LIFE)
    return true
  })
  // In the fragment, which browsers do not send.
  return opened ? `${options.baseUrl}/studio/setup#token=${token}` : undefined
}

async function createFirstUser(platform: Platform, options: FirstUserOptions): Promise<void> {
  const { email, password } = options
  const given = credentials.safeParse({ email, password })
  if (!given.success) {
    const faults = given.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
    throw new Error(`The first user cannot be created. ${faults.join(' ')}`)
  }
  const passwordHash = await (options.passwords ?? createPasswords()).hash(given.data.password)
  await platform.store.write(async (tx) => {
    if (!(await isFirst(tx))) return
    const now = platform.clock.now()
    const account = { id: platform.newId(), name: given.data.email }
    const user = { email: given.data.email, passwordHash }
    await insertUser(tx, platform, await insertAccount(tx, platform, account, now), user, now)
  })
}

/**
 * Whether there is no user yet. Only one unit of work at a time gets true: writing one row makes the others
 * wait for this unit's end, also in a database that would let two read "none" concurrently.
 */
export async function isFirst({ accounts }: Pick<StoreTx, 'accounts'>): Promise<boolean> {
  await accounts.putMetaOnce('first_user', 'guarded')
  return !(await hasUser(accounts))
}

/** Whether anybody can sign in. */
export async function hasUser({ withUsers }: Pick<AccountReads, 'withUsers'>): Promise<boolean> {
  return (await withUsers(1)).length > 0
}
