import type { Route } from '../client/route.ts'
import { routesOf } from '../client/route.ts'
import type { Family } from '../operations/family.ts'

/** Line width of the formatter, so that the written file needs no formatting. */
const WIDTH = 100

/** `daemon/client/routes.ts`: what the client knows of the families without loading them. */
export function routesSource(families: readonly Family[]): string {
  const names = families.map(({ name }) => name).sort()
  return [
    '/** Written from the operations by `npm run docs`. */',
    ...names.map((name) => `import type { ${name}Family } from '../families/${name}/family.ts'`),
    "import type { RouteOf } from './route.ts'",
    "import type { OperationsOf } from './types.ts'",
    '',
    'interface Families {',
    ...names.map((name) => `  readonly ${name}: typeof ${name}Family`),
    '}',
    '',
    '/** The operations of the service. */',
    'export type Served = OperationsOf<Families[keyof Families]>',
    '',
    'export const ROUTES: readonly RouteOf<Served>[] = [',
    ...families.flatMap(({ operations }) => routesOf(operations)).map(printRoute),
    ']',
    '',
  ].join('\n')
}

function printRoute(route: Route): string {
  const fields = Object.entries(route).map(([name, value]) => `${name}: ${printValue(value)}`)
  const line = `  { ${fields.join(', ')} },`
  if (line.length <= WIDTH) return line
  return ['  {', ...fields.map((field) => `    ${field},`), '  },'].join('\n')
}

function printValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printValue).join(', ')}]`
  return typeof value === 'string' ? `'${value}'` : String(value)
}
