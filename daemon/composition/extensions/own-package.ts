/**
 * Keyhook's own package for plugins in places where none of that name is installed, such as `/srv/editor.mjs`:
 * `keyhook/plugins` of the daemon then, so that there is one copy of it.
 *
 * Node 20 runs hooks in a thread of their own, which imports this module for `resolve`. The executable has no files
 * to import: its modules are handed over.
 *
 * @module
 */
import module from 'node:module'

const OWN = /^keyhook(\/|$)/

interface Context {
  readonly parentURL?: string | undefined
}

interface Resolved {
  readonly url: string
  readonly shortCircuit?: true
}

interface Loaded {
  readonly format: string
  readonly source: string
  readonly shortCircuit: true
}

type Next<Result> = (specifier: string, context: Context) => Result

/** Absent before Node 22.15. */
type RegisterHooks = (hooks: {
  resolve(specifier: string, context: Context, next: Next<Resolved>): Resolved
  load?(url: string, context: Context, next: Next<Loaded>): Loaded
}) => unknown

let isOffered = false

type Entries = ReadonlyMap<string, object>

let ownEntries: (() => Promise<Entries>) | undefined

/** Modules of the package by name, where they are in no files. */
export function provideOwnPackage(entries: () => Promise<Entries>): void {
  ownEntries = entries
}

/** From now on what imports `keyhook`, and finds no such package from its place, gets this one. */
export async function offerOwnPackage(): Promise<void> {
  if (isOffered) return
  isOffered = true
  const { registerHooks } = module as { readonly registerHooks?: RegisterHooks }
  if (ownEntries !== undefined) registerHooks?.(hooksOf(await ownEntries()))
  else if (registerHooks === undefined) module.register(import.meta.url)
  else registerHooks({ resolve: resolveInPlace })
}

/**
 * The hook of `module.register`.
 *
 * @public
 */
export async function resolve(
  specifier: string,
  context: Context,
  next: Next<Promise<Resolved>>,
): Promise<Resolved> {
  try {
    return await next(specifier, context)
  } catch (cause) {
    return next(specifier, ownContext(specifier, context, cause))
  }
}

function resolveInPlace(specifier: string, context: Context, next: Next<Resolved>): Resolved {
  try {
    return next(specifier, context)
  } catch (cause) {
    return next(specifier, ownContext(specifier, context, cause))
  }
}

/** As if this module imported it: its package is the one that it is in. */
function ownContext(specifier: string, context: Context, cause: unknown): Context {
  const { code } = cause as NodeJS.ErrnoException
  // Any other code is that of a package which was found.
  if (!OWN.test(specifier) || code !== 'ERR_MODULE_NOT_FOUND') throw cause
  return { ...context, parentURL: import.meta.url }
}

const SCHEME = 'keyhook-executable:'
const HANDED_OVER = Symbol.for('keyhook.executable')

/** Each entry is a module of names that it takes from what is handed over. */
function hooksOf(entries: Entries): Parameters<RegisterHooks>[0] {
  Object.assign(globalThis, { [HANDED_OVER]: entries })
  return {
    resolve(specifier, context, next) {
      try {
        return next(specifier, context)
      } catch (cause) {
        if (!OWN.test(specifier) || !entries.has(specifier)) throw cause
        return { url: `${SCHEME}${specifier}`, shortCircuit: true }
      }
    },
    load(url, context, next) {
      const name = url.slice(SCHEME.length)
      const entry = url.startsWith(SCHEME) ? entries.get(name) : undefined
      if (entry === undefined) return next(url, context)
      return { format: 'module', source: sourceOf(name, entry), shortCircuit: true }
    },
  }
}

function sourceOf(name: string, entry: object): string {
  const names = Object.keys(entry).join(', ')
  const all = `globalThis[Symbol.for('keyhook.executable')].get(${JSON.stringify(name)})`
  return `export const { ${names} } = ${all}`
}
