const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a file; undefined when it is none, whatever its name. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = decoder.decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}
