import { toHex, utf8 } from '../../../lib/internal/bytes.ts'

/** An app's id as one word of ASCII, unlike that of any other app. */
export function printAppTerm(appId: string): string {
  return `app${toHex(utf8(appId))}`
}
