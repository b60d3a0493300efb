import { readFileSync } from 'node:fs'

const PAGES = new URL('../../../../docs/receivers/', import.meta.url)

/** Languages as Studio names them, with the page of docs/receivers. */
export const LANGUAGES = [
  ['Node, TypeScript', 'node'],
  ['Python', 'python'],
  ['Go', 'go'],
  ['Java', 'java'],
  ['Ruby', 'ruby'],
  ['PHP', 'php'],
  ['Rust', 'rust'],
] as const

export interface ShownFile {
  readonly name: string
  readonly text: string
}

/** Files of each receiver of a page, in its order. */
export function receiversOf(page: string): readonly (readonly ShownFile[])[] {
  return readFileSync(new URL(`${page}.md`, PAGES), 'utf8')
    .split(/^## /m)
    .map((section) =>
      [...section.matchAll(/^```\w+ (\S+\.\w+)\n([\s\S]*?)^```$/gm)].map(
        ([, name = '', text = '']) => ({ name, text }),
      ),
    )
    .filter((files) => files.length > 0)
}
