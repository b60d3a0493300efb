import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package as the lock records it. */
export interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** Packages by their place in `node_modules`; that of the project is empty. */
export type Lock = Readonly<Record<string, Locked>>

export function readLock(root: string): Lock {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8')
  return (JSON.parse(text) as { readonly packages: Lock }).packages
}

/**
 * Development dependencies that are in what is published all the same: Studio is built with them, and the SDK of MCP is
 * bundled.
 */
const BUNDLED = [
  '@codemirror/commands',
  '@codemirror/lang-css',
  '@codemirror/lang-html',
  '@codemirror/lang-javascript',
  '@codemirror/language',
  '@codemirror/state',
  '@codemirror/view',
  '@lezer/highlight',
  '@mantine/core',
  '@mantine/hooks',
  '@modelcontextprotocol/server',
  '@tanstack/react-query',
  '@tanstack/react-router',
  '@tanstack/react-virtual',
  'react',
  'react-dom',
  'uplot',
] as const

/** The place and the record of each package that the lock records, apart from the project. */
export function everyPackage(lock: Lock): readonly (readonly [place: string, Locked])[] {
  return Object.entries(lock).filter(([place]) => place !== '')
}

/**
 * What is published or runs in the executable: dependencies, optional peers, and what is bundled, each with what it
 * needs.
 */
export function shippedPackages(lock: Lock): readonly (readonly [place: string, Locked])[] {
  const own = lock['']
  const roots = [
    ...Object.keys(own?.dependencies ?? {}),
    ...Object.keys(own?.peerDependencies ?? {}),
    ...BUNDLED,
  ]
  const found = new Map<string, Locked>()
  const waiting = roots.map((name) => locate(lock, name, ''))
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const one = lock[place]
    if (one === undefined || found.has(place)) continue
    found.set(place, one)
    for (const name of neededBy(one)) waiting.push(locate(lock, name, place))
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
}

function neededBy({ dependencies, peerDependencies, peerDependenciesMeta }: Locked): string[] {
  const peers = Object.keys(peerDependencies ?? {})
  const required = peers.filter((name) => peerDependenciesMeta?.[name]?.optional !== true)
  return [...Object.keys(dependencies ?? {}), ...required]
}

/** The place of a package as Node looks for it from another place; one that is not installed has none. */
function locate(lock: Lock, name: string, from: string): string {
  const inside = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (inside in lock || from === '') return inside
  return locate(lock, name, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))))
}

export function nameOf(place: string): string {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
