/** What was opened, each with how it is closed. */
export interface Closers {
  /** To be called as soon as something is open; it is closed once, before what was open by then. */
  push(close: () => unknown): Closer
}

export interface Closer {
  /** From now on it is closed before everything that is open now. */
  toTop(): void
}

/** What can be closed; a second call waits for the first. */
export interface Closable {
  close(): Promise<void>
}

/**
 * Opens something of several parts; when one cannot be opened, those before it are closed, the last first.
 *
 * @returns what `open` answers, and `close`, which closes all parts in that order: each of them, also after
 *   one that failed
 * @throws what `open` throws
 */
export async function openInOrder<T extends object>(
  open: (closers: Closers) => Promise<T>,
): Promise<T & Closable> {
  const parts: (() => unknown)[] = []
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= closeAll(parts))
  try {
    return { ...(await open(closersOf(parts))), close }
  } catch (cause) {
    // Why it could not be opened matters more than why a part could not be closed.
    await close().catch(() => undefined)
    throw cause
  }
}

function closersOf(parts: (() => unknown)[]): Closers {
  return {
    push(close) {
      parts.push(close)
      return {
        toTop() {
          const at = parts.indexOf(close)
          if (at !== -1) parts.push(...parts.splice(at, 1))
        },
      }
    },
  }
}

async function closeAll(parts: (() => unknown)[]): Promise<void> {
  const failed: unknown[] = []
  for (let close = parts.pop(); close !== undefined; close = parts.pop()) {
    try {
      await close()
    } catch (cause) {
      failed.push(cause)
    }
  }
  if (failed.length > 0) throw failed[0]
}
