import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { ROOT } from '../arch/source.ts'

/**
 * Writes a program of this tree, with all that it imports of it, as JavaScript to `folder`, at the same
 * places below it: a process that runs it starts in a fraction of the time that one with a loader takes.
 *
 * @param program its path in the tree
 * @returns the path of what is to be run
 */
export async function transpileTo(folder: string, program: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const written = new Set<string>()
  const waiting = [program]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (written.has(path)) continue
    written.add(path)
    const source = await readFile(join(ROOT, path), 'utf8')
    const target = join(folder, scriptOf(path))
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, transpile(source))
    const imported = ts.preProcessFile(source).importedFiles.map(({ fileName }) => fileName)
    for (const name of imported) if (name.startsWith('.')) waiting.push(join(dirname(path), name))
  }
  return join(folder, scriptOf(program))
}

function scriptOf(path: string): string {
  return path.replace(/\.ts$/, '.js')
}

function transpile(source: string): string {
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      rewriteRelativeImportExtensions: true,
    },
  })
  return outputText
}
