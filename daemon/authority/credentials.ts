import { BLANK, UNSEEN } from '../operations/patterns.ts'

/** Separators, invisible characters, and U+037E, which becomes a semicolon in NFC. */
const NOT_IN_ADDRESS = `${BLANK}${UNSEEN}\\u037e`
/** Every character of ASCII that is not a letter, a digit or a hyphen. */
const NOT_IN_LABEL = '\\u0000-,./:-@\\[-`{-\\u007f'
const LABEL = `[^${NOT_IN_LABEL}${NOT_IN_ADDRESS}]{1,63}`
/** An email address: one `@`, a host of labels, and no character with a meaning in headers or pages. */
export const EMAIL = new RegExp(
  `^[^${NOT_IN_ADDRESS}@"<>(),;:\\\\\\[\\]]{1,64}@${LABEL}(?:\\.${LABEL})*$`,
  'u',
)

export const MAX_EMAIL = 254

/** Length of a new password: in characters as sent, before normalization. */
export const PASSWORD = { min: 12, max: 128 } as const

export function isEmail(text: string): boolean {
  return text.length <= MAX_EMAIL && EMAIL.test(text)
}

export function isNewPassword(text: string): boolean {
  return text.length >= PASSWORD.min && text.length <= PASSWORD.max && !text.includes('\0')
}
