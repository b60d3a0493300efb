import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** The repository's root. */
export const ROOT: string = join(dirname(fileURLToPath(import.meta.url)), '../../..')

export interface SourceFile {
  /** Relative to the root, such as `lib/key/token.ts`. */
  readonly path: string
  readonly text: string
  readonly imports: readonly Import[]
}

export interface Import {
  /** A path relative to the root, or a package's name. */
  readonly target: string
  readonly own: boolean
}

/** Every TypeScript source below a folder. */
export function sourcesIn(folder: string): readonly SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readSource(join(folder, name)))
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const imports = ts
    .preProcessFile(text, true, true)
    .importedFiles.map(({ fileName }) => resolveImport(path, fileName))
  return { path, text, imports }
}

function resolveImport(from: string, name: string): Import {
  return name.startsWith('.')
    ? { target: normalize(join(dirname(from), name)), own: true }
    : { target: name, own: false }
}

/** Whether all that a file has, imports aside, are types and constants that are no functions. */
export function isDeclaration({ path, text }: Pick<SourceFile, 'path' | 'text'>): boolean {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  return statements.every(
    (statement) =>
      ts.isImportDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      (ts.isVariableStatement(statement) &&
        statement.declarationList.declarations.every(
          ({ initializer }) =>
            initializer !== undefined &&
            !ts.isArrowFunction(initializer) &&
            !ts.isFunctionExpression(initializer),
        )),
  )
}

/** The code without comments and text, so that a rule about code does not read prose. */
export function codeOf(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*$/gm, '')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''")
}
