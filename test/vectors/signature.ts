import { readFileSync } from 'node:fs'

/** One delivery of `signature.json`; what its fields mean stands there. */
export interface SignatureCase {
  readonly id: string
  readonly form: 'service' | 'standard'
  readonly description: string
  readonly secrets: readonly string[]
  readonly now: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** The raw body; in the file it is text or base64. */
  readonly body: Uint8Array
  readonly valid: boolean
  readonly reason?: string
  readonly event?: false
  readonly signed_by?: readonly string[]
}

type StoredCase = Omit<SignatureCase, 'body'> & {
  readonly body?: string
  readonly body_base64?: string
}

const file = new URL('../../../test/vectors/signature.json', import.meta.url)
const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly StoredCase[] }

/** The published cases, with their bodies as bytes. */
export const SIGNATURE_CASES: readonly SignatureCase[] = cases.map(
  ({ body, body_base64 = '', ...rest }) => ({
    ...rest,
    body: Uint8Array.from(
      body === undefined ? Buffer.from(body_base64, 'base64') : Buffer.from(body),
    ),
  }),
)
