/** Open resources and their close functions. */
export interface Closers {
  /** Call it as soon as a resource is open. Closing runs once, in reverse order. */
  push(close: () => unknown): void
}

/** A resource that can be closed; a second call waits for the first. */
export interface Closable {
  close(): Promise<void>
}

/**
 * Opens several resources; when one fails, those before it are closed in reverse order.
 *
 * @returns the result of `open`, and `close`, which closes all resources in that order even if one fails
 * @throws what `open` throws
 */
export async function openInOrder<T extends object>(
  open: (closers: Closers) => Promise<T>,
): Promise<T & Closable> {
  const parts: (() => unknown)[] = []
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= closeAll(parts))
  try {
    return { ...(await open({ push: (part) => void parts.push(part) })), close }
  } catch (cause) {
    // The error of opening matters more than an error of closing.
    await close().catch(() => undefined)
    throw cause
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
