import assert from 'node:assert/strict'
import { APP, type AppBytesCase } from './samples.ts'

const MIB = 2 ** 20
/** What is streamed. */
const SIZE = 128 * MIB
/** Garbage that is not collected yet was at most 51 MiB with ours; bytes that are held are all of them. */
const MOST = 96 * MIB

function used(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** How much more memory than at the beginning was in use at one time. */
class Peak {
  readonly #first = used()
  #most = 0

  look(): void {
    this.#most = Math.max(this.#most, used() - this.#first)
  }

  assertBelow(bytes: number): void {
    const said = `${Math.round(this.#most / MIB)} MiB in use for ${SIZE / MIB} MiB streamed`
    assert.ok(this.#most < bytes, said)
  }
}

async function* streamed(peak: Peak): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(MIB)
  for (let at = 0; at < SIZE; at += MIB) {
    chunk.fill(at / MIB)
    peak.look()
    yield chunk
  }
}

export const memoryUseCases: readonly AppBytesCase[] = [
  {
    name: 'memory: bytes that are streamed in and out are never held as a whole',
    requires: 'durable',
    async run({ open }) {
      const bytes = await open()
      const putting = new Peak()
      const { sha256, size } = await bytes.put(APP, streamed(putting))
      assert.equal(size, SIZE)
      putting.assertBelow(MOST)
      const reading = new Peak()
      let read = 0
      for await (const chunk of (await bytes.open(APP, sha256)) ?? []) {
        read += chunk.length
        reading.look()
      }
      assert.equal(read, SIZE)
      reading.assertBelow(MOST)
    },
  },
]
