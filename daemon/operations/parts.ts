/** Specification of one part of a multipart body. */
export interface PartSpec {
  readonly kind: 'file' | 'text'
  readonly description: string
  /** Minimum parts of this name. */
  readonly least: 0 | 1
  readonly most: number
  /** Maximum bytes of one part. */
  readonly limit: number
  /** Maximum bytes of all parts of this name. Default: the sum of their limits. */
  readonly inAll?: number
  /** Accepted media types, detected by content regardless of the declared type. Default: any. */
  readonly mediaTypes?: readonly string[]
  /** Alternative name, such as clients write for a list. */
  readonly alias?: string
}

/** The parts of a multipart body by name; any other part is refused. */
export type PartsInput = Readonly<Record<string, PartSpec>>

/** Form encoding of a JSON body: multipart/form-data, in which files need no base64. */
export interface FormInput {
  readonly parts: PartsInput
  /**
   * The body that the parts represent; it is validated like any other.
   *
   * @throws KeyhookError for parts that represent none
   */
  toBody(given: GivenForm): unknown
}

/** The complete parts of a form, by name. */
export interface GivenForm {
  readonly texts: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, readonly GivenFile[]>>
}

export interface GivenFile {
  /** Name as sent: any text. */
  readonly filename: string
  readonly bytes: Uint8Array
}

/** A file that is being received. */
export interface FilePart {
  readonly kind: 'file'
  readonly name: string
  /** Name as sent: any text. */
  readonly filename: string
  /**
   * May be read once, before the next part is requested; the rest of it is dropped then.
   *
   * @throws KeyhookError `payload_too_large` with `details.part` beyond the limit of one part; the
   *   following parts may still be read
   */
  readonly bytes: AsyncIterable<Uint8Array>
}

export interface TextPart {
  readonly kind: 'text'
  readonly name: string
  readonly text: string
}

export type GivenPart = FilePart | TextPart

/** Maximum bytes of a part's headers and boundary. */
const AROUND = 16_384

/** Maximum number of parts of a body. */
export function mostParts(parts: PartsInput): number {
  return Object.values(parts).reduce((sum, { most }) => sum + most, 0)
}

/** Maximum bytes of a body. */
export function mostBytes(parts: PartsInput): number {
  return Object.values(parts).reduce((sum, spec) => sum + spec.most * AROUND + mostOf(spec), 0)
}

/** Maximum bytes of all parts of a name. */
function mostOf({ most, limit, inAll = most * limit }: PartSpec): number {
  return inAll
}

/** The declared name of a part that was sent under this one. */
export function declaredName(parts: PartsInput, name: string): string | undefined {
  if (Object.hasOwn(parts, name)) return name
  return Object.keys(parts).find((one) => parts[one]?.alias === name)
}
