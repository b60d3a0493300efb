import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..')

/**
 * Writes sources and whole folders of them as JavaScript to `folder`, at the same places below it: a
 * process that runs them starts in a fraction of the time that one with a loader takes.
 */
export async function transpileTo(folder: string, paths: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  for (const path of await sourcesAmong(paths)) {
    const source = await readFile(join(ROOT, path), 'utf8')
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2023,
        rewriteRelativeImportExtensions: true,
      },
    })
    const target = join(folder, path.replace(/\.ts$/, '.js'))
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, outputText)
  }
}

async function sourcesAmong(paths: readonly string[]): Promise<readonly string[]> {
  const found = paths.map(async (path) => {
    if (path.endsWith('.ts')) return [path]
    const names = await readdir(join(ROOT, path), { recursive: true })
    return names.filter((name) => name.endsWith('.ts')).map((name) => join(path, name))
  })
  return (await Promise.all(found)).flat()
}
