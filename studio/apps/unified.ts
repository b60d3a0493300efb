/** A line of a diff: added, removed, kept, or the place of what follows. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'kept' | 'place'
  readonly text: string
}

const KINDS: Readonly<Record<string, 'added' | 'removed' | 'kept'>> = {
  '+': 'added',
  '-': 'removed',
  ' ': 'kept',
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/

/**
 * The lines of each file of a unified diff, by path. Lines are counted as each hunk announces them: a removed line may
 * look like the header of a file.
 */
export function filesOf(diff: string): ReadonlyMap<string, readonly DiffLine[]> {
  const files = new Map<string, DiffLine[]>()
  let current: DiffLine[] = []
  let before = ''
  let left = { before: 0, after: 0 }
  for (const line of diff.split('\n')) {
    if (left.before > 0 || left.after > 0) {
      const kind = KINDS[line.charAt(0)]
      // What says that a file has no line end at its end.
      if (kind === undefined) continue
      left = {
        before: left.before - (kind === 'added' ? 0 : 1),
        after: left.after - (kind === 'removed' ? 0 : 1),
      }
      current.push({ kind, text: line.slice(1) })
      continue
    }
    const hunk = HUNK.exec(line)
    if (hunk !== null) {
      left = { before: Number(hunk[1] ?? 1), after: Number(hunk[2] ?? 1) }
      current.push({ kind: 'place', text: line })
    } else if (line.startsWith('--- ')) {
      before = line.slice(4)
    } else if (line.startsWith('+++ ')) {
      const after = line.slice(4)
      current = []
      files.set((after === '/dev/null' ? before : after).slice(2), current)
    }
  }
  return files
}
