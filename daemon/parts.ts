/** What one part of a multipart body may be. */
export interface PartSpec {
  readonly kind: 'file' | 'text'
  readonly description: string
  /** Parts of this name. */
  readonly least: 0 | 1
  readonly most: number
  /** Bytes of one. */
  readonly limit: number
}

/** The parts of a multipart body by their names; any other is refused. */
export type PartsInput = Readonly<Record<string, PartSpec>>

/** A file on its way in. */
export interface FilePart {
  readonly kind: 'file'
  readonly name: string
  /** As it was sent: it may be anything. */
  readonly filename: string
  /**
   * Read at most once, before the next part is asked for; what is left of it then is dropped.
   *
   * @throws KeyhookError `payload_too_large` with `details.part` beyond the limit of one; the parts after
   * it may be read all the same
   */
  readonly bytes: AsyncIterable<Uint8Array>
}

export interface TextPart {
  readonly kind: 'text'
  readonly name: string
  readonly text: string
}

export type GivenPart = FilePart | TextPart

/** What a header of a part, and the boundary before it, may take of the whole. */
const AROUND = 16_384

/** How many parts a body may have. */
export function mostParts(parts: PartsInput): number {
  return Object.values(parts).reduce((sum, { most }) => sum + most, 0)
}

/** The bytes of the largest body. */
export function mostBytes(parts: PartsInput): number {
  return Object.values(parts).reduce((sum, { most, limit }) => sum + most * (limit + AROUND), 0)
}
