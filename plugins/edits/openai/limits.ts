import type { Millis } from '../../../lib/time.ts'
import type { ContextLimits } from '../prompt/context.ts'

export interface OpenAiEditorLimits extends ContextLimits {
  /** How many passages are asked for; default 8. */
  readonly passages: number
  /** How many characters of passages are given; default 16,000. */
  readonly passageText: number
  /** The most bytes of one answer as it arrives, all that the protocol adds included; default 16 MiB. */
  readonly answer: number
  /** For the whole edit, in milliseconds; default 10 min. */
  readonly edit: Millis
  /** From a question to the answer's first byte; default 2 min. */
  readonly firstByte: Millis
  /** From one byte of the answer to the next; default 1 min. */
  readonly idle: Millis
  /** How often a question without any answer is asked again; default 2. */
  readonly retries: number
  /** The longest wait before that; default 1 min. */
  readonly maxWait: Millis
  /** How often progress is told anew when there is none; default 10 s. */
  readonly heartbeat: Millis
}

export const DEFAULT_LIMITS: OpenAiEditorLimits = {
  files: 200_000,
  wholeFile: 32_768,
  prompt: 32_768,
  passages: 8,
  passageText: 16_000,
  answer: 16 * 1024 * 1024,
  edit: 600_000,
  firstByte: 120_000,
  idle: 60_000,
  retries: 2,
  maxWait: 60_000,
  heartbeat: 10_000,
}
