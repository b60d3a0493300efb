import { align } from './print.ts'

/** Result of one check. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  /** The finding, or the remedy. */
  readonly detail: string
}

/** One line for each check. */
export function printChecks(checks: readonly Check[]): string {
  return align(checks.map(({ name, ok, detail }) => [ok ? 'ok' : 'FAILED', name, detail]))
}

interface Attempted<T> {
  readonly check: Check
  readonly found: T | undefined
}

/** Runs a check that fails when it throws: the message is the remedy. */
export async function attempt<T extends { readonly detail: string }>(
  name: string,
  look: () => Promise<T>,
): Promise<Attempted<T>> {
  try {
    const found = await look()
    return { check: { name, ok: true, detail: found.detail }, found }
  } catch (cause) {
    return { check: { name, ok: false, detail: messageOf(cause) }, found: undefined }
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
