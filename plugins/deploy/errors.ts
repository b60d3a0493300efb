import {
  ANY,
  TEXT,
  declareArguments,
  oneOf,
  optional,
  optionsOf,
} from '../../lib/internal/arguments.ts'
import type { ErrorExtras, ErrorRow } from '../../lib/errors.ts'
import { KeyhookError } from '../../lib/errors.ts'

/**
 * What a failure is caused by: a passing condition, the app's files, its configuration or the service's,
 * stored data, another service, a rule, or a defect.
 */
export type DeployErrorClass =
  | 'transient'
  | 'code'
  | 'configuration'
  | 'data'
  | 'integration'
  | 'policy'
  | 'internal'

export type DeployErrorCode =
  | 'nothing_to_serve'
  | 'release_too_large'
  | 'file_gone'
  | 'target_unavailable'
  | 'target_refused'

interface DeployErrorRow extends ErrorRow {
  readonly class: DeployErrorClass
  /** Whether a retry may succeed. */
  readonly retryable: boolean
}

/** Why a release could not be built or served. A code never changes its meaning. */
export const DEPLOY_ERRORS: Readonly<Record<DeployErrorCode, DeployErrorRow>> = {
  nothing_to_serve: {
    status: 400,
    class: 'code',
    retryable: false,
    text: 'The revision has no file that could be served. Add one, such as index.html.',
  },
  release_too_large: {
    status: 400,
    class: 'code',
    retryable: false,
    text: 'The list of what would be served is larger than 4 MiB. Take files away, or shorten their names.',
  },
  file_gone: {
    status: 409,
    class: 'data',
    retryable: false,
    text: 'A file of the release cannot be read any more. Publish anew, or choose another release.',
  },
  target_unavailable: {
    status: 503,
    class: 'transient',
    retryable: true,
    text: 'Where releases are served does not answer. Try again later.',
  },
  target_refused: {
    status: 503,
    class: 'integration',
    retryable: false,
    text: 'Where releases are served does not take this one. Its operator can say why.',
  },
}

const readError = declareArguments('DeployError', {
  code: oneOf(...Object.keys(DEPLOY_ERRORS)),
  extras: optionsOf({
    internal: optional(TEXT),
    cause: optional(ANY),
  }),
})

/** A release that cannot be built or served; any other error is a defect. */
export class DeployError extends KeyhookError<DeployErrorCode> {
  readonly class: DeployErrorClass
  readonly retryable: boolean

  /** @param extras for logs alone */
  constructor(
    ...args: readonly [code: DeployErrorCode, extras?: Pick<ErrorExtras, 'internal' | 'cause'>]
  ) {
    readError(args)
    const [code, extras = {}] = args
    const row = DEPLOY_ERRORS[code]
    super(code, row, extras)
    this.class = row.class
    this.retryable = row.retryable
  }
}
