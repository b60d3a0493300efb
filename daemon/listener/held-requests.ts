import type { RequestListener } from 'node:http'

/** Requests that wait for a handler. */
export interface HeldRequests {
  readonly hold: RequestListener
  /** Hands over those that wait, and all later ones. */
  release(handler: RequestListener): void
}

export function holdRequests(): HeldRequests {
  const waiting: Parameters<RequestListener>[] = []
  let serving: RequestListener | undefined
  return {
    hold(request, response) {
      if (serving === undefined) waiting.push([request, response])
      else serving(request, response)
    },
    release(handler) {
      serving = handler
      for (const [request, response] of waiting.splice(0)) handler(request, response)
    },
  }
}
