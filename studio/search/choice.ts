import type { IconName } from '../parts/icon.tsx'

/** What can be chosen in the search: it leads to a page. */
export interface Choice {
  /** Unique among all choices. */
  readonly key: string
  /** Heading that it stands below. */
  readonly group: string
  readonly name: string
  readonly detail?: string
  readonly icon: IconName
  readonly to: string
  readonly params?: Readonly<Record<string, string>>
  readonly search?: Readonly<Record<string, string>>
  /** A record is remembered when it is chosen. */
  readonly record?: Reference
}

/** Names a record without saying anything of it. */
export interface Reference {
  readonly kind: string
  readonly id: string
}

/** Groups of choices in their order. */
export function groupsOf(choices: readonly Choice[]): ReadonlyMap<string, readonly Choice[]> {
  const groups = new Map<string, Choice[]>()
  for (const choice of choices) {
    const group = groups.get(choice.group)
    if (group === undefined) groups.set(choice.group, [choice])
    else group.push(choice)
  }
  return groups
}

/** How well words match a text: 0 at the beginning of one, 1 within one; undefined when they do not. */
export function rankOf(words: readonly string[], text: string): number | undefined {
  const wanted = text.toLowerCase()
  const ranks = words.map((word) => word.toLowerCase().indexOf(wanted)).filter((at) => at >= 0)
  return ranks.length === 0 ? undefined : Math.min(1, ...ranks)
}
