import type { Logger } from 'pino'
import { destination, pino } from 'pino'

export type Log = Logger

/** JSON lines on standard error. Fields with the name of a secret are removed at every depth. */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      redact: {
        paths: ['authorization', 'cookie', 'password', 'secret', 'key', 'token'].flatMap((name) => [
          name,
          `*.${name}`,
        ]),
        censor: '[cut]',
      },
    },
    destination({ fd: 2, sync: false }),
  )
}

interface DescribedError {
  readonly type: string
  readonly message: string
  readonly code?: string
  readonly stack: string | undefined
  readonly cause?: DescribedError
}

/** Maximum depth of causes. */
const MAX_CAUSES = 4

/**
 * Fields of a logged error. No others are logged, because a driver's errors contain the values bound to the
 * statement.
 */
export function describeError(error: unknown, causes: number = MAX_CAUSES): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error, message: '', stack: undefined }
  const code = 'code' in error ? error.code : undefined
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    stack: error.stack,
    ...(error.cause === undefined || causes === 0
      ? {}
      : { cause: describeError(error.cause, causes - 1) }),
  }
}
