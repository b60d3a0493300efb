import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Family } from '../../daemon/operations/family.ts'
import { blocksOf } from './page.ts'

/** The module of docs/families.md. */
export const NOTES: string =
  blocksOf('families.md').find(({ kind }) => kind === 'js notes.mjs')?.text ?? ''

/** Writes it into a folder, changed as given, and answers its path. */
export async function writeNotes(
  folder: string,
  name = 'notes.mjs',
  change: (text: string) => string = (text) => text,
): Promise<string> {
  const path = join(folder, name)
  await mkdir(folder, { recursive: true })
  await writeFile(path, change(NOTES))
  return path
}

/** The family of a module. */
export async function familyAt(path: string): Promise<Family> {
  return ((await import(pathToFileURL(path).href)) as { readonly family: Family }).family
}
