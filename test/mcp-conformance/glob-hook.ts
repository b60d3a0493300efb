import type { ResolveHook } from 'node:module'

const SUITE = /\/@modelcontextprotocol\/conformance\/dist\/index\.js$/

/** Gives the suite another `fs`, with everything that Node's has and a `globSync`. */
export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === 'fs' && SUITE.test(context.parentURL ?? '')
    ? { url: new URL('fs-with-glob.js', import.meta.url).href, shortCircuit: true }
    : next(specifier, context)
