import { appendFileSync, closeSync, fdatasync, openSync, readSync } from 'node:fs'

/** A file of JSON lines that one process appends to; it outlives every kill. */
export interface Journal {
  /** The line is written when this returns, and synced soon after. */
  write(line: object): void
  /** Resolves once everything written so far is synced. */
  synced(): Promise<void>
}

export function openJournal(path: string): Journal {
  const file = openSync(path, 'a')
  let dirty = false
  let syncing: Promise<void> | undefined

  async function syncWhileDirty(): Promise<void> {
    while (dirty) {
      dirty = false
      await new Promise<void>((resolve, reject) => {
        fdatasync(file, (cause) => {
          if (cause === null) resolve()
          else reject(cause)
        })
      })
    }
    syncing = undefined
  }

  return {
    write(line) {
      appendFileSync(file, `${JSON.stringify(line)}\n`)
      dirty = true
      syncing ??= syncWhileDirty()
    },
    synced: async () => syncing,
  }
}

/** Reads what was appended since the last call, whole lines only. */
export function followJournal<Line>(path: string): { next(): Line[]; close(): void } {
  const file = openSync(path, 'a+')
  const chunk = Buffer.alloc(1 << 20)
  let at = 0
  let rest: Buffer = Buffer.alloc(0)
  return {
    next() {
      const lines: Line[] = []
      for (;;) {
        const size = readSync(file, chunk, 0, chunk.length, at)
        if (size === 0) return lines
        at += size
        const text = Buffer.concat([rest, chunk.subarray(0, size)])
        const end = text.lastIndexOf(10) + 1
        rest = Buffer.from(text.subarray(end))
        for (const line of text.subarray(0, end).toString().split('\n')) {
          if (line !== '') lines.push(JSON.parse(line) as Line)
        }
      }
    },
    close() {
      closeSync(file)
    },
  }
}
