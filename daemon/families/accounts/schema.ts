import { z } from 'zod'
import { MAX_KEY_LIMIT } from '../../../lib/key/lifecycle.ts'
import { toIso } from '../../../lib/time.ts'
import type {
  AccountRecord,
  MemberRecord,
  UserRecord,
} from '../../../plugins/store/contract/accounts.ts'
import { EMAIL, MAX_EMAIL, PASSWORD } from '../../authority/credentials.ts'
import { anyText, changesOf, instant, isoOrNull, pageOf, plainText, text } from '../wire.ts'

export const accountParams = z.strictObject({ account_id: plainText })

const accountId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'An account id is 1 to 64 letters, digits, _ or -.')
const keyLimit = z.int().min(1).max(MAX_KEY_LIMIT).nullable().meta({
  description: 'Maximum live keys; null uses KEYHOOK_KEY_LIMIT.',
})
const plan = z.enum(['free', 'pro'])

/** An email address in one canonical form. */
const email = z
  .string()
  .max(MAX_EMAIL)
  .regex(EMAIL, 'Must be an email address.')
  .normalize('NFC')
  .toLowerCase()
  .meta({ description: 'Email address, stored in lower case.' })

const LENGTH = `Must be ${PASSWORD.min} to ${PASSWORD.max} characters.`
const newPassword = anyText().min(PASSWORD.min, LENGTH).max(PASSWORD.max, LENGTH).normalize('NFC')

export const credentials = z.strictObject({ email, password: newPassword })

/** A password to compare may have been chosen under other rules. */
export const signInBody = z.strictObject({ email, password: anyText(1024).min(1) })

export const setupBody = credentials.extend({
  token: anyText(100).min(1).meta({ description: 'Token of the setup link, after #token=.' }),
})

export const accountCreation = z.strictObject({
  name: text(100),
  id: accountId.optional().meta({ description: 'Your own id. Default: generated.' }),
  key_limit: keyLimit.default(null),
})

export const accountChanges = changesOf({ key_limit: keyLimit.optional(), plan: plan.optional() })

export const stepUpBody = z.strictObject({ password: anyText(1024).min(1) })

export const userCreation = credentials.extend({
  account_id: accountId
    .optional()
    .meta({ description: 'Account of the user. Default: a new one.' }),
})

export const planChange = z.strictObject({ email, plan })

export const accountRecord = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    plan,
    key_limit: keyLimit,
    suspended_at: instant.nullable(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Account' })

export const accountPage = pageOf(accountRecord)

export const userRecord = z
  .strictObject({
    id: z.string(),
    account_id: z.string(),
    email: z.string(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'User' })

export const sessionRecord = z
  .strictObject({
    user: z.strictObject({ id: z.string(), email: z.string() }),
    account: z.strictObject({ id: z.string(), name: z.string(), plan }),
    expires_at: instant,
  })
  .meta({ id: 'Session' })

export const userSession = z
  .strictObject({
    id: z
      .string()
      .meta({ description: 'Id of the session; its value is known to the browser alone.' }),
    current: z.boolean().meta({ description: 'Whether it is the session of this request.' }),
    created_at: instant,
    seen_at: instant.meta({ description: 'Its last use, accurate to a minute.' }),
    expires_at: instant.meta({
      description: 'When it ends at the latest; unused, it ends earlier.',
    }),
  })
  .meta({ id: 'UserSession' })

export const userSessionList = z.strictObject({ data: z.array(userSession) })

export const memberRecord = z
  .strictObject({
    id: z.string(),
    email: z.string(),
    role: z.enum(['owner']).meta({ description: 'Every member is an owner.' }),
    current: z.boolean().meta({ description: 'Whether it is the user of this request.' }),
    joined_at: instant,
    signed_in_at: instant.nullable().meta({ description: 'Last sign-in; null before the first.' }),
  })
  .meta({ id: 'Member' })

export const memberPage = pageOf(memberRecord)

export function toWireMember(member: MemberRecord, current: boolean): z.input<typeof memberRecord> {
  return {
    id: member.id,
    email: member.email,
    role: 'owner',
    current,
    joined_at: toIso(member.created_at),
    signed_in_at: isoOrNull(member.signed_in_at),
  }
}

export function toWireAccount(account: AccountRecord): z.input<typeof accountRecord> {
  return {
    id: account.id,
    name: account.name,
    plan: account.plan,
    key_limit: account.key_limit,
    suspended_at: isoOrNull(account.suspended_at),
    created_at: toIso(account.created_at),
    updated_at: toIso(account.updated_at),
  }
}

/** The record without the password hash, which no response contains. */
export function toWireUser(user: UserRecord): z.input<typeof userRecord> {
  return {
    id: user.id,
    account_id: user.account_id,
    email: user.email,
    created_at: toIso(user.created_at),
    updated_at: toIso(user.updated_at),
  }
}

export const exampleAccount = {
  id: '01890a5d-ac96-774b-bcce-b302099a8001',
  name: 'Acme',
  plan: 'pro',
  key_limit: null,
  suspended_at: null,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
} as const

export const exampleUser = {
  id: '01890a5d-ac96-774b-bcce-b302099a8000',
  account_id: exampleAccount.id,
  email: 'owner@example.com',
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
} as const

export const exampleMember = {
  id: exampleUser.id,
  email: exampleUser.email,
  role: 'owner',
  current: true,
  joined_at: '2026-01-31T12:00:00.000Z',
  signed_in_at: '2026-02-01T08:30:00.000Z',
} as const

export const exampleCredentials = {
  email: exampleUser.email,
  password: 'correct horse battery staple',
} as const

export const exampleSession = {
  user: { id: exampleUser.id, email: exampleUser.email },
  account: { id: exampleAccount.id, name: exampleAccount.name, plan: exampleAccount.plan },
  expires_at: '2026-03-02T12:00:00.000Z',
} as const

export const exampleUserSession = {
  id: 'kqUuJX1b4cN0T5oZ2sVw9A',
  current: true,
  created_at: '2026-01-31T12:00:00.000Z',
  seen_at: '2026-01-31T12:00:00.000Z',
  expires_at: '2026-03-02T12:00:00.000Z',
} as const
