/** What one part of a multipart body may be. */
export interface PartSpec {
  readonly kind: 'file' | 'text'
  readonly description: string
  /** Parts of this name. */
  readonly least: 0 | 1
  readonly most: number
  /** Bytes of one. */
  readonly limit: number
  /** Bytes of all parts of this name. Default: as many as each of them may have. */
  readonly inAll?: number
  /** What a file may be, by its content; whatever it is sent as. Default: anything. */
  readonly mediaTypes?: readonly string[]
  /** Another name that stands for this one, as some write a list. */
  readonly alias?: string
}

/** The parts of a multipart body by their names; any other is refused. */
export type PartsInput = Readonly<Record<string, PartSpec>>

/** How a JSON body may also be sent: as multipart/form-data, where files need no base64. */
export interface FormInput {
  readonly parts: PartsInput
  /**
   * The body that parts stand for; it is validated as any other.
   *
   * @throws KeyhookError for a part that stands for none
   */
  toBody(given: GivenForm): unknown
}

/** The parts of a form by their names, each whole. */
export interface GivenForm {
  readonly texts: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, readonly GivenFile[]>>
}

export interface GivenFile {
  /** As it was sent: it may be anything. */
  readonly filename: string
  readonly bytes: Uint8Array
}

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
  return Object.values(parts).reduce((sum, spec) => sum + spec.most * AROUND + mostOf(spec), 0)
}

/** The bytes of all parts of a name. */
function mostOf({ most, limit, inAll = most * limit }: PartSpec): number {
  return inAll
}

/** The name under which a part is declared that was sent under this one. */
export function declaredName(parts: PartsInput, name: string): string | undefined {
  if (Object.hasOwn(parts, name)) return name
  return Object.keys(parts).find((one) => parts[one]?.alias === name)
}
