import { choiceSetting } from './setting.ts'

/** The level of one kind of lines, of which `KEYHOOK_LOG_LEVEL` prints those at or above its own. */
const KIND = ['debug', 'info', 'warn', 'off'] as const

export type LineLevel = (typeof KIND)[number]

/** Settings of the log. */
export const LOG_SETTINGS = {
  logLevel: choiceSetting({
    env: 'KEYHOOK_LOG_LEVEL',
    doc: 'Log level of the JSON lines on standard error: debug, info, warn, error or silent.',
    fallback: 'info',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
  }),
  logRequests: choiceSetting({
    env: 'KEYHOOK_LOG_REQUESTS',
    doc: 'Level of the line of each request: debug, info, warn or off.',
    fallback: 'debug',
    choices: KIND,
  }),
  logDeliveries: choiceSetting({
    env: 'KEYHOOK_LOG_DELIVERIES',
    doc: 'Level of the line of each attempt that succeeded: debug, info, warn or off.',
    fallback: 'debug',
    choices: KIND,
  }),
  logFailures: choiceSetting({
    env: 'KEYHOOK_LOG_FAILURES',
    doc: 'Level of the line of each attempt that failed and is retried: debug, info, warn or off. The last one is always warn.',
    fallback: 'info',
    choices: KIND,
  }),
} as const
