/** What a file of the API says of its end. */
export interface EndedFile {
  readonly status?: unknown
  readonly error?: unknown
}

/**
 * Whether a document was not read in time. It is read at a low priority within 30 seconds of the clock, which a busy
 * machine may not give it: its error says to retry.
 */
export function isLate({ error }: EndedFile): boolean {
  return (error as { readonly code?: unknown } | null | undefined)?.code === 'timed_out'
}
