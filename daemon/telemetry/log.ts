import type { Logger } from 'pino'
import { destination, pino } from 'pino'

export type Log = Logger

/** JSON lines on standard error. What could bear a secret is cut by name, wherever it stands. */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
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
