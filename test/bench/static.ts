import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Files that are served as they are, by their names. */
export const STATIC = {
  'small.css': Buffer.alloc(4096, '.page{margin:0}\n'),
  'large.bin': Buffer.alloc(1024 * 1024, 'large'),
} as const

export type StaticFile = keyof typeof STATIC

export const TYPES: Readonly<Record<StaticFile, string>> = {
  'small.css': 'text/css; charset=utf-8',
  'large.bin': 'application/octet-stream',
}

/** The host of the app of a number. */
export function hostOf(app: number): string {
  return `app${app}.localhost`
}

/** Puts them into a folder of their own. */
export async function writeStatic(folder: string): Promise<string> {
  const place = join(folder, 'static')
  await mkdir(place, { recursive: true })
  for (const [name, bytes] of Object.entries(STATIC)) await writeFile(join(place, name), bytes)
  return place
}
