import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'

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

/** Every TypeScript source below a folder, with markup or without. */
export function sourcesIn(folder: string): readonly SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readSource(join(folder, name)))
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8')
  return { path, text, imports: importsIn(path, text).map((name) => resolveImport(path, name)) }
}

/** What a module names in its imports and in what it exports of others, literal calls of `import()` included. */
export function importsIn(path: string, text: string): readonly string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(path, text).module
  const literal = /^(['"])(.*)\1$/
  return [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...dynamicImports.flatMap(
      ({ moduleRequest: { start, end } }) => literal.exec(text.slice(start, end))?.[2] ?? [],
    ),
  ]
}

const { imports: IMPORTS } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly imports: Readonly<Record<string, { readonly unbundled: string }>>
}

function resolveImport(from: string, name: string): Import {
  if (name.startsWith('.')) return { target: normalize(join(dirname(from), name)), own: true }
  const built = IMPORTS[name]?.unbundled
  if (built === undefined) return { target: name, own: false }
  return { target: normalize(built).replace(/^dist\/(.*)\.js$/, '$1.ts'), own: true }
}

/** Whether all that a file has, imports aside, are types and constants that are no functions. */
export function isDeclaration({ path, text }: Pick<SourceFile, 'path' | 'text'>): boolean {
  return parseSync(path, text).program.body.every((statement) => {
    if (statement.type === 'ImportDeclaration') return true
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    if (declared?.type !== 'VariableDeclaration') return DECLARATIONS.has(declared?.type ?? '')
    return declared.declarations.every(({ init }) => init !== null && !FUNCTIONS.has(init.type))
  })
}

const DECLARATIONS: ReadonlySet<string> = new Set([
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
])
const FUNCTIONS: ReadonlySet<string> = new Set(['ArrowFunctionExpression', 'FunctionExpression'])

/** The code without comments and text, so that a rule about code does not read prose. */
export function codeOf(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*$/gm, '')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''")
}
