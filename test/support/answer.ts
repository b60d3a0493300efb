interface Answered {
  readonly status: number
  readonly body: unknown
}

interface Refusal {
  readonly error?: { readonly code: string }
  readonly queued?: number
}

/** The status, and the code of a refusal: `200` or `404 key_not_found`. */
export function codeOf({ status, body }: Answered): string {
  const { error } = (body ?? {}) as Refusal
  return error === undefined ? String(status) : `${status} ${error.code}`
}

/** How many deliveries were queued, or the code of a refusal: `202 3` or `409 webhook_disabled`. */
export function queuedOf(answer: Answered): string {
  const { queued } = (answer.body ?? {}) as Refusal
  return queued === undefined ? codeOf(answer) : `${answer.status} ${queued}`
}
