/**
 * Whether a document was not read in time. It is read at a low priority within 30 seconds of the clock, which a busy
 * machine may not give it: its error says to retry.
 */
export function isLate({ error }: { readonly error?: unknown }): boolean {
  return (error as { readonly code?: unknown } | null | undefined)?.code === 'timed_out'
}
