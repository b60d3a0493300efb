import { z } from 'zod'
import { BLANK, UNSEEN, anyText } from '../operations/text.ts'

/** Separators, invisible characters, and U+037E, which becomes a semicolon in NFC. */
const NOT_IN_ADDRESS = `${BLANK}${UNSEEN}\\u037e`
/** Every character of ASCII that is not a letter, a digit or a hyphen. */
const NOT_IN_LABEL = '\\u0000-,./:-@\\[-`{-\\u007f'
const LABEL = `[^${NOT_IN_LABEL}${NOT_IN_ADDRESS}]{1,63}`
/** One `@`, a host of labels, and no character with a meaning in headers or pages. */
const ADDRESS = new RegExp(
  `^[^${NOT_IN_ADDRESS}@"<>(),;:\\\\\\[\\]]{1,64}@${LABEL}(?:\\.${LABEL})*$`,
  'u',
)

/** An email address in one canonical form. */
export const email = z
  .string()
  .max(254)
  .regex(ADDRESS, 'Must be an email address.')
  .normalize('NFC')
  .toLowerCase()
  .meta({ description: 'Email address, stored in lower case.' })

/** A new password: counted in characters as sent, before normalization. */
export const newPassword = anyText()
  .min(12, 'Must be 12 to 128 characters.')
  .max(128, 'Must be 12 to 128 characters.')
  .normalize('NFC')
