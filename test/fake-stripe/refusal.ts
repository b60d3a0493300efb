/** An answer that is an error, in Stripe's form. */
export class Refusal extends Error {
  readonly status: number
  readonly body: object

  constructor(status: number, error: RefusalError) {
    super(error.message)
    this.status = status
    this.body = { error: { ...error, message: `Fake Stripe: ${error.message}` } }
  }
}

interface RefusalError {
  readonly type: string
  readonly message: string
  readonly code?: string
  readonly param?: string
}

/** A request that cannot be carried out. */
export function invalid(message: string, more: { code?: string; param?: string } = {}): Refusal {
  return new Refusal(400, { type: 'invalid_request_error', message, ...more })
}

/** @param param of the request that names it; without one it is the path that names it */
export function missing(resource: string, id: string, param?: string): Refusal {
  const message = `No such ${resource}: '${id}'`
  const error = { type: 'invalid_request_error', code: 'resource_missing', message }
  return new Refusal(param === undefined ? 404 : 400, { ...error, param: param ?? 'id' })
}
