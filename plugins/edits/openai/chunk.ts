import { z } from 'zod'

const text = z.string().nullish()
const count = z.number().int().nonnegative().nullish()

const chunkSchema = z.object({
  model: text,
  choices: z
    .array(
      z.object({
        finish_reason: text,
        delta: z.object({ content: text, refusal: text }).nullish(),
        message: z.object({ content: text, refusal: text }).nullish(),
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
    })
    .nullish(),
})

const errorSchema = z.object({
  error: z.object({ code: z.unknown(), type: z.unknown() }).partial(),
})

export type Chunk = z.infer<typeof chunkSchema>

/** A part of a streamed answer, or a whole one; undefined for what is neither. */
export function readChunk(json: string): Chunk | undefined {
  const read = chunkSchema.safeParse(parse(json))
  return read.success ? read.data : undefined
}

/** The code or type of an error; '' for an error without, undefined for what is no error. */
export function readErrorCode(json: string): string | undefined {
  const read = errorSchema.safeParse(parse(json))
  if (!read.success) return undefined
  const { code, type } = read.data.error
  return [code, type].find((one) => typeof one === 'string') ?? ''
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
