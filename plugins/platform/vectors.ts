/**
 * Vectors as they are kept: a byte for each number, and before them what makes the whole of length one. A
 * cosine is off by less than a hundredth, at a quarter of the size.
 */
const HEAD = 4
const MOST = 127

/** Vectors of one length, one after another. */
export function packVectors(vectors: readonly Float32Array[]): Uint8Array {
  const size = HEAD + (vectors[0]?.length ?? 0)
  const packed = Buffer.alloc(vectors.length * size)
  for (const [index, vector] of vectors.entries()) pack(vector, packed.subarray(index * size))
  return packed
}

/** Of nothing but zeros, or with what is no number, it points nowhere, and is never found. */
function pack(vector: Float32Array, into: Buffer): void {
  let largest = 0
  for (const one of vector) largest = Math.max(largest, Math.abs(one))
  if (!(largest > 0 && largest < Infinity)) return
  const rounded = new Int8Array(into.buffer, into.byteOffset + HEAD, vector.length)
  let squares = 0
  for (let at = 0; at < vector.length; at++) {
    const one = Math.round(((vector[at] ?? 0) / largest) * MOST)
    squares += one * one
    rounded[at] = one
  }
  into.writeFloatLE(1 / Math.sqrt(squares), 0)
}

/** Tells how alike the ways are that kept vectors and the one asked for point. */
export interface Comparison {
  /** Bytes of one kept vector; others cannot be compared. */
  readonly size: number
  /** From -1 to 1, 1 for the same way; 0 for a vector of zeros. */
  cosine(packed: Uint8Array, index: number): number
}

/** Undefined for a vector that points nowhere. */
export function compareWith(vector: Float32Array): Comparison | undefined {
  const length = Math.hypot(...vector)
  if (!(length > 0 && length < Infinity)) return undefined
  const asked = vector.map((one) => one / length)
  const size = HEAD + vector.length
  return {
    size,
    cosine(packed, index) {
      const view = new DataView(packed.buffer, packed.byteOffset + index * size, size)
      const kept = new Int8Array(
        packed.buffer,
        packed.byteOffset + index * size + HEAD,
        asked.length,
      )
      let sum = 0
      for (let at = 0; at < kept.length; at++) sum += (kept[at] ?? 0) * (asked[at] ?? 0)
      return sum * view.getFloat32(0, true)
    },
  }
}
