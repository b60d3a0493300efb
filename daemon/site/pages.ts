import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Copies the pages into a folder for VitePress: those of docs/ to its top, with the README as the first, and those of
 * test/ that they refer to.
 */
export function copyPages(root: string, to: string): void {
  const pages = [
    ...markdownIn(root, 'docs').map((page) => ({ page, as: page.slice('docs/'.length) })),
    ...markdownIn(root, 'test').map((page) => ({ page, as: page })),
    { page: 'README.md', as: 'index.md' },
  ]
  for (const { page, as } of pages) {
    const file = join(to, as)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, moved(readFileSync(join(root, page), 'utf8')))
  }
  cpSync(join(root, 'studio/icon.svg'), join(to, 'public/icon.svg'))
  // Sources that pages link to are downloads.
  mkdirSync(join(to, 'public/test'), { recursive: true })
  cpSync(join(root, 'test/vectors'), join(to, 'public/test/vectors'), { recursive: true })
}

function markdownIn(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
}

/** A page whose relative links lead from its new place: docs/ is one folder higher than it was. */
function moved(text: string): string {
  return text
    .replaceAll('](../test/', '](test/')
    .replaceAll('](../README.md', '](index.md')
    .replaceAll(/\]\(((?:\.\.\/)*)docs\//g, ']($1')
}
