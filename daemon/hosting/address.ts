import type { AppsHosting } from '../platform.ts'

/** No alias holds two hyphens in a row: whoever learns a label cannot take its name. */
const PREVIEW = 'preview--'

/** What begins an app's own address: its alias, or its id, under which it is always found. */
function nameOf({ id, alias }: { readonly id: string; readonly alias: string | null }): string {
  return alias ?? id
}

/** Where an app is seen once it is published; null where nothing is served. */
export function productionUrl(
  hosting: AppsHosting | undefined,
  app: { readonly id: string; readonly alias: string | null },
): string | null {
  return hosting?.urlOf(nameOf(app)) ?? null
}

/** Where the files of an app are seen as they are at present. */
export function previewUrl(hosting: AppsHosting | undefined, label: string): string | null {
  return hosting?.urlOf(PREVIEW + label) ?? null
}

/** The label of a preview in a name below the apps' domain; undefined for a name that is no preview's. */
export function previewIn(name: string): string | undefined {
  return name.startsWith(PREVIEW) ? name.slice(PREVIEW.length) : undefined
}
