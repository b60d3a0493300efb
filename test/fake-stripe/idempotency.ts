import { Refusal } from './refusal.ts'

export interface Reply {
  readonly status: number
  readonly body: object
}

/** A request with a key that is in progress. */
export interface Begun {
  end(reply: Reply): void
}

interface Kept {
  readonly request: string
  reply: Reply | undefined
}

/** What was answered to requests with an idempotency key. */
export class Idempotency {
  readonly #kept = new Map<string, Kept>()

  /**
   * Runs a request once for its key. Results are kept, refusals before anything ran are not.
   *
   * @throws Refusal for a key of another request, or of one that is in progress
   */
  begin(key: string, request: string): { readonly replayed: Reply } | Begun {
    const known = this.#kept.get(key)
    if (known === undefined) {
      const kept: Kept = { request, reply: undefined }
      this.#kept.set(key, kept)
      return {
        end: (reply) => {
          if (isKept(reply)) kept.reply = reply
          else this.#kept.delete(key)
        },
      }
    }
    if (known.request !== request) {
      throw new Refusal(400, {
        type: 'idempotency_error',
        message:
          'Keys for idempotent requests can only be used with the same parameters they were ' +
          `first used with. Try using a key other than '${key}'.`,
      })
    }
    if (known.reply === undefined) {
      throw new Refusal(409, {
        type: 'invalid_request_error',
        code: 'idempotency_key_in_use',
        message: 'There is currently another in-progress request using this Idempotency-Key.',
      })
    }
    return { replayed: known.reply }
  }
}

function isKept({ status }: Reply): boolean {
  return status < 400 || status >= 500
}
