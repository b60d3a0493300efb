import {
  ANY,
  COUNT,
  TEXT,
  declareArguments,
  oneOf,
  optional,
  optionsOf,
} from '../../lib/internal/arguments.ts'
import type { ErrorExtras, ErrorRow } from '../../lib/errors.ts'
import { KeyhookError } from '../../lib/errors.ts'
import type { Millis } from '../../lib/time.ts'

export type EmbeddingErrorCode =
  | 'embeddings_unavailable'
  | 'embeddings_rate_limited'
  | 'embeddings_refused'
  | 'embeddings_invalid'

interface EmbeddingErrorRow extends ErrorRow {
  /** Whether a retry of the same texts may succeed. */
  readonly retryable: boolean
}

/** Why a call failed. A code never changes its meaning and is never reused. */
export const EMBEDDING_ERRORS: Readonly<Record<EmbeddingErrorCode, EmbeddingErrorRow>> = {
  embeddings_unavailable: {
    status: 503,
    retryable: true,
    text: 'The model for embeddings did not answer, or broke off. Retry later.',
  },
  embeddings_rate_limited: {
    status: 503,
    retryable: true,
    text: 'The model for embeddings has too much to do, or its quota is used up. Retry later.',
  },
  embeddings_refused: {
    status: 501,
    retryable: false,
    text: 'The model for embeddings does not take what it was sent, or how it is set up here.',
  },
  embeddings_invalid: {
    status: 503,
    retryable: true,
    text: 'The model for embeddings did not answer with vectors that can be used.',
  },
}

/** For logs alone: never a credential or a text. */
export type EmbeddingErrorExtras = Pick<ErrorExtras, 'internal' | 'cause'> & {
  /** Wait requested by the server. */
  readonly wait?: Millis | undefined
}

const readError = declareArguments('EmbeddingError', {
  code: oneOf(...Object.keys(EMBEDDING_ERRORS)),
  extras: optionsOf({
    internal: optional(TEXT),
    cause: optional(ANY),
    wait: optional(COUNT),
  }),
})

/** A failed call; any other error is a defect. */
export class EmbeddingError extends KeyhookError<EmbeddingErrorCode> {
  readonly retryable: boolean
  /** Wait before a retry, where known. */
  readonly wait: Millis | undefined

  constructor(...args: readonly [code: EmbeddingErrorCode, extras?: EmbeddingErrorExtras]) {
    readError(args)
    const [code, { wait, ...extras } = {}] = args
    const row = EMBEDDING_ERRORS[code]
    super(code, row, extras)
    this.retryable = row.retryable
    this.wait = wait
  }
}
