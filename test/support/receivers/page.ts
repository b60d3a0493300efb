import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from '../../arch/source.ts'

const PAGES = join(ROOT, 'docs/receivers')
const PROGRAMS = join(ROOT, 'test/support/receivers/programs')
const PORT_OF_THE_PAGES = '8080'

/** A receiver of a page, with the page's commands: `sh install NAME`, `sh build NAME` and `sh run NAME`. */
export interface ReceiverOfPage {
  readonly name: string
  /** Has its dependencies fetched; empty where it has none. */
  readonly install: string
  readonly build: string
  readonly run: string
}

/** The receivers of a page of docs/receivers, in its order, listening on `port`. */
export function receiversOf(page: string, port: number): readonly ReceiverOfPage[] {
  const text = readPage(page, port)
  const commandOf = (verb: string, name: string): string =>
    new RegExp(`^\`\`\`sh ${verb} ${name.replaceAll('.', '\\.')}\\n([\\s\\S]*?)^\`\`\`$`, 'm')
      .exec(text)?.[1]
      ?.trim() ?? ''
  return [...text.matchAll(/^```sh run (\S+)$/gm)].map(([, name = '']) => ({
    name,
    install: commandOf('install', name),
    build: commandOf('build', name),
    run: commandOf('run', name),
  }))
}

/** Writes the files that a page shows, under the names it gives them, and the programs that drive them. */
export function writeFilesOf(page: string, port: number, folder: string): void {
  const shown = readPage(page, port).matchAll(/^```\w+ (\S+\.\w+)\n([\s\S]*?)^```$/gm)
  for (const [, name = '', text = ''] of shown) write(join(folder, name), text)
  for (const entry of readdirSync(PROGRAMS, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    write(join(folder, path.slice(PROGRAMS.length)), adapt(readFileSync(path, 'utf8'), port))
  }
}

const readPage = (page: string, port: number): string =>
  adapt(readFileSync(join(PAGES, page), 'utf8'), port)

const adapt = (text: string, port: number): string =>
  text.replaceAll(PORT_OF_THE_PAGES, String(port))

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
