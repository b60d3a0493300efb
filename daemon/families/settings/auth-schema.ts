import { z } from 'zod'
import type { SignInRecord } from '../../../plugins/platform/contract/sign-in.ts'
import { NO_SIGN_IN, SIGNUPS } from '../../../plugins/platform/contract/sign-in.ts'
import { fault } from '../../operations/faults.ts'
import { exampleApp } from '../apps/schema.ts'
import { BLANK, instant, isoOrNull, changesOf, NUL } from '../wire.ts'

const enabled = z.boolean().meta({
  description: "Whether the app's users sign in. Such an app cannot be published in this version.",
})

const inUse = z.literal(false).meta({
  description:
    'Whether anything uses these settings. Always false in this version: they are only stored.',
})

const providers = z
  .array(
    z
      .string()
      .regex(
        /^[a-z][a-z0-9_-]{0,39}$/,
        'A provider is 1 to 40 lower-case letters, digits, _ or -, a letter first.',
      ),
  )
  .max(20)
  .refine(isEachOnce, fault('duplicate', 'Must not contain duplicates.'))
  .meta({
    description: 'Sign-in providers.',
    uniqueItems: true,
    example: ['password', 'github'],
  })

const ADDRESS = new RegExp(`^https?://[^${BLANK}${NUL}\\\\#]+$`)

const allowedRedirects = z
  .array(
    z
      .string()
      .max(2000)
      .regex(ADDRESS, 'Must be an http or https address without a fragment.')
      .refine(
        isRedirect,
        fault(
          'invalid_url',
          'An absolute https address without credentials and fragment; http on this very machine.',
        ),
      ),
  )
  .max(50)
  .refine(isEachOnce, fault('duplicate', 'Must not contain duplicates.'))
  .meta({
    description: 'Redirect addresses after sign-in, matched exactly.',
    uniqueItems: true,
    example: ['https://shop.example.com/signed-in'],
  })

const sessionTtl = z
  .int()
  .min(300)
  .max(7_776_000)
  .meta({ description: 'Session lifetime in seconds: 300 to 7776000.' })

const signup = z.enum(SIGNUPS).meta({ description: 'Who may sign up.' })

/** Hosts of a server in development, on the developer's own machine. */
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

function isRedirect(text: string): boolean {
  const url = /^https?:\/\/[^\s\\]+$/.test(text) ? URL.parse(text) : null
  if (url === null || url.username !== '' || url.password !== '' || text.includes('#')) return false
  return url.protocol === 'https:' || LOOPBACK.has(url.hostname)
}

function isEachOnce(given: readonly string[]): boolean {
  return new Set(given).size === given.length
}

export const authChanges = changesOf({
  enabled: enabled.optional(),
  providers: providers.optional(),
  allowed_redirects: allowedRedirects.optional(),
  session_ttl: sessionTtl.optional(),
  signup: signup.optional(),
})

export const authRecord = z
  .strictObject({
    app_id: z.string(),
    enabled,
    providers: z.array(z.string()),
    allowed_redirects: z.array(z.string()),
    session_ttl: sessionTtl,
    signup,
    in_use: inUse,
    updated_at: instant
      .nullable()
      .meta({ description: 'Time of the last change; null until set.' }),
  })
  .meta({ id: 'AuthSettings' })

export function toWireAuth(
  appId: string,
  kept: SignInRecord | undefined,
): z.input<typeof authRecord> {
  const { enabled, providers, allowed_redirects, session_ttl, signup } = kept ?? NO_SIGN_IN
  return {
    app_id: appId,
    enabled,
    providers: [...providers],
    allowed_redirects: [...allowed_redirects],
    session_ttl,
    signup,
    in_use: false,
    updated_at: isoOrNull(kept?.updated_at ?? null),
  }
}

/** Shared by examples. */
export const exampleAuth = {
  app_id: exampleApp.id,
  enabled: true,
  providers: ['password'],
  allowed_redirects: ['https://shop.example.com/signed-in'],
  session_ttl: 86_400,
  signup: 'invite',
  in_use: false,
  updated_at: '2026-01-30T12:00:00.000Z',
} as const
