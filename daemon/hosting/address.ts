import type { AppsHosting } from '../platform.ts'

/** No alias has two consecutive hyphens: whoever learns a label cannot take its name as an alias. */
const PREVIEW = 'preview--'

/** First label of an app's address: its alias, or its id, which always works. */
function nameOf({ id, alias }: { readonly id: string; readonly alias: string | null }): string {
  return alias ?? id
}

/** Address of a published app; null when apps are not served. */
export function productionUrl(
  hosting: AppsHosting | undefined,
  app: { readonly id: string; readonly alias: string | null },
): string | null {
  return hosting?.urlOf(nameOf(app)) ?? null
}

/** Address of the current files of an app. */
export function previewUrl(hosting: AppsHosting | undefined, label: string): string | null {
  return hosting?.urlOf(PREVIEW + label) ?? null
}

/** The preview label in a name below the apps' domain; undefined for any other name. */
export function previewIn(name: string): string | undefined {
  return name.startsWith(PREVIEW) ? name.slice(PREVIEW.length) : undefined
}
