/** A text as one word of a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Publishes a first event, for who has none yet. */
export const FIRST_EVENT = `keyhook event publish --type order.paid --data ${quote('{}')}`
