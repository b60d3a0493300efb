import type { CommandFunctions } from '../operations/command.ts'
import type { Family } from '../operations/family.ts'

/** Families with operations that say something to the person at a terminal, by the first word of their ids. */
export const SPEAKING_FAMILIES: ReadonlyMap<string, () => Promise<Family>> = new Map<
  string,
  () => Promise<Family>
>([
  ['billing', async () => (await import('../families/billing/family.ts')).billingFamily],
  ['keys', async () => (await import('../families/keys/family.ts')).keysFamily],
  ['webhooks', async () => (await import('../families/webhooks/family.ts')).webhooksFamily],
])

/** What an operation says to a person. Its family alone is loaded, and none where it says nothing. */
export async function functionsOf(id: string): Promise<CommandFunctions> {
  const family = await SPEAKING_FAMILIES.get(id.replace(/\..*/, ''))?.()
  return family?.operations.find((one) => one.id === id) ?? {}
}
