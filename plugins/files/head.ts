import { HEAD_BYTES } from './contract.ts'

/** At least the first `HEAD_BYTES`, or all there is. */
export async function readHead(pieces: AsyncGenerator<Uint8Array>): Promise<Buffer> {
  const head: Uint8Array[] = []
  for (let length = 0; length < HEAD_BYTES;) {
    const next = await pieces.next()
    if (next.done === true) break
    head.push(next.value)
    length += next.value.length
  }
  return Buffer.concat(head)
}

/** All bytes again, the head first. */
export async function* prepend(
  head: Uint8Array,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield head
  yield* pieces
}
