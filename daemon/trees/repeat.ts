import { runInSteps } from '../queues/steps.ts'
import type { Tree } from './tree.ts'
import { judgeTree } from './tree.ts'

/** Why changes cannot be applied to another tree. */
export interface RepeatConflict {
  readonly paths: readonly string[]
  readonly config: readonly string[]
}

/**
 * Applies the changes between two trees to a third. Nothing is overwritten: every changed file and key must be
 * the same in the third as before the changes.
 *
 * @param signal ends the work early
 * @throws the reason of the signal
 */
export async function repeatChanges(
  { from, to }: { readonly from: Tree; readonly to: Tree },
  onto: Tree,
  signal?: AbortSignal,
): Promise<{ readonly tree: Tree } | RepeatConflict> {
  const digestOf = (tree: Tree) => (path: string) => tree.files.get(path)?.sha256
  const valueOf = (tree: Tree) => (key: string) => tree.config.get(key)
  const paths = changedNames(from.files, to.files, digestOf(from), digestOf(to))
  const keys = changedNames(from.config, to.config, valueOf(from), valueOf(to))
  const conflict = {
    paths: paths.filter((path) => digestOf(onto)(path) !== digestOf(from)(path)),
    config: keys.filter((key) => valueOf(onto)(key) !== valueOf(from)(key)),
  }
  if (conflict.paths.length + conflict.config.length > 0) return conflict
  const tree = {
    files: withNames(onto.files, to.files, paths),
    config: withNames(onto.config, to.config, keys),
  }
  const fault = await runInSteps(judgeTree(tree), signal)
  return fault === undefined ? { tree } : { paths: [fault.path], config: [] }
}

function changedNames(
  from: ReadonlyMap<string, unknown>,
  to: ReadonlyMap<string, unknown>,
  before: (name: string) => unknown,
  after: (name: string) => unknown,
): readonly string[] {
  return [...new Set([...from.keys(), ...to.keys()])]
    .filter((name) => before(name) !== after(name))
    .sort()
}

/** A copy of a map with the values of some names taken from another. */
function withNames<T>(
  map: ReadonlyMap<string, T>,
  other: ReadonlyMap<string, T>,
  names: readonly string[],
): ReadonlyMap<string, T> {
  const made = new Map(map)
  for (const name of names) {
    const value = other.get(name)
    if (value === undefined) made.delete(name)
    else made.set(name, value)
  }
  return made
}
