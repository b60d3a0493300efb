/** Server-sent events as a client reads them. */
export interface OpenStream {
  readonly response: Response
  /** Reads on until the text holds `part`, or to the end; answers all of it so far. */
  until(part?: string): Promise<string>
  leave(): void
}

/** @param after the id of the last event that the client has */
export async function openStream(url: string, key: string, after?: string): Promise<OpenStream> {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` }
  if (after !== undefined) headers['last-event-id'] = after
  const leaving = new AbortController()
  return readStream(await fetch(url, { headers, signal: leaving.signal }), leaving)
}

/** @param leaving aborts the request of the response */
export function readStream(response: Response, leaving: AbortController): OpenStream {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    response,
    async until(part) {
      while (part === undefined || !text.includes(part)) {
        const { done, value = '' } = (await reader?.read()) ?? { done: true }
        if (done) break
        text += value
      }
      return text
    },
    leave() {
      leaving.abort()
    },
  }
}
