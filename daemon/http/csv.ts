import type { Csv, Operation } from '../operations/operation.ts'
import { printCsv } from '../operations/print-csv.ts'
import type { CallContext } from './call-context.ts'

/** One page of a list, as far as it becomes a table. */
interface Listed {
  readonly data: readonly never[]
  readonly next_cursor: string | null
}

/** How the response becomes CSV, when the query asks for it. */
export function csvOf({ csv }: Pick<Operation, 'csv'>, query: unknown): Csv | undefined {
  return (query as { readonly format?: string }).format === 'csv' ? csv : undefined
}

/** Responds with a page as CSV, a file to save. A `Link` header leads to the next page. */
export function sendCsv(ctx: CallContext, { columns, row }: Csv, page: unknown): void {
  const { data, next_cursor } = page as Listed
  ctx.status = 200
  ctx.set('Content-Type', 'text/csv; charset=utf-8; header=present')
  ctx.set('Content-Disposition', 'attachment')
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.set('Cache-Control', 'no-store')
  if (next_cursor !== null) ctx.set('Link', `<${nextPage(ctx, next_cursor)}>; rel="next"`)
  ctx.body = printCsv({ columns, rows: data.map(row) })
}

/** Relative to the request, which may come through a proxy under another address. */
function nextPage({ querystring }: CallContext, cursor: string): string {
  const query = new URLSearchParams(querystring)
  query.set('cursor', cursor)
  return `?${query.toString()}`
}
