/** A text as one word of a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Publishes an event of the type, for who has none yet. */
export function firstEventOf(type: string): string {
  return `keyhook event publish --type ${type} --data ${quote('{}')}`
}

export const FIRST_EVENT: string = firstEventOf('order.paid')
