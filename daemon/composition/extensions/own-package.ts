/**
 * Keyhook's own package for plugins in places where none of that name is installed, such as `/srv/editor.mjs`:
 * `keyhook/plugins` of the daemon then, so that there is one copy of it.
 *
 * Node 20 runs hooks in a thread of their own, which imports this module for `resolve`.
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
}

type Next<Result> = (specifier: string, context: Context) => Result

/** Absent before Node 22.15. */
type RegisterHooks = (hooks: {
  resolve(specifier: string, context: Context, next: Next<Resolved>): Resolved
}) => unknown

let isOffered = false

/** From now on what imports `keyhook`, and finds no such package from its place, gets this one. */
export function offerOwnPackage(): void {
  if (isOffered) return
  isOffered = true
  const { registerHooks } = module as { readonly registerHooks?: RegisterHooks }
  if (registerHooks === undefined) module.register(import.meta.url)
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
