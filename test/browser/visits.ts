import type { BrowserContext, Request } from 'playwright-core'

/** A request to an app, as the browser that made it tells. */
export interface Visit {
  readonly host: string
  readonly method: string
  readonly path: string
  readonly status: number
  /** Of the body that came. */
  readonly bytes: number
}

export interface Visits {
  /** Those to a host so far, each once it was answered. */
  of(host: string): Promise<readonly Visit[]>
}

/** Counts what the pages of a browser ask apps for; what is not an app's own, at `/_p/`, aside. */
export function countVisits(context: BrowserContext): Visits {
  const finished: Promise<Visit>[] = []
  context.on('requestfinished', (request) => finished.push(visitOf(request)))
  return {
    async of(host) {
      const all = await Promise.all(finished)
      return all.filter((visit) => visit.host === host && !visit.path.startsWith('/_p/'))
    },
  }
}

async function visitOf(request: Request): Promise<Visit> {
  const { host, pathname: path } = new URL(request.url())
  const response = await request.response()
  if (response === null) throw new Error(`${request.url()} was never answered`)
  const { responseBodySize: bytes } = await request.sizes()
  return { host, path, method: request.method(), status: response.status(), bytes }
}

/** `GET /hours.html 200 4821`. A browser may tell of a 304 as of a 200 that bears nothing. */
export function lineOf({ method, path, status, bytes }: Omit<Visit, 'host'>): string {
  return `${method} ${path} ${status === 304 ? 200 : status} ${bytes}`
}
