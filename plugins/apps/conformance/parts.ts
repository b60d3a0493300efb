/** What cases of the bytes of apps run in another process. */
import type { Part } from '../../other-process.ts'
import type { AppBytes } from '../contract.ts'
import { APP, bytesOf, manyBytes } from './samples.ts'

const FILES = 30

/** Puts files one at a time; resolves to their digests. */
export async function putFiles(bytes: AppBytes, writer: string): Promise<readonly string[]> {
  const digests: string[] = []
  for (let number = 0; number < FILES; number += 1) {
    // Every second one is the same for each writer.
    const text = number % 2 === 0 ? `file ${number}` : `file ${number} of ${writer}`
    digests.push((await bytes.put(APP, bytesOf(text))).sha256)
  }
  return digests
}

/** What is put when the process is killed: the second half never comes. */
export const HALF = manyBytes(500_000)

const put: Part<AppBytes> = async (bytes, writer: string, say) => {
  await say('open')
  await say(await putFiles(bytes, writer))
}

/** The stream waits for its second half until the process is killed. */
const begin: Part<AppBytes> = async (bytes, _, say) => {
  async function* halves(): AsyncGenerator<Uint8Array> {
    yield HALF
    await say('begun')
    // Keeps the process alive, which would otherwise end with nothing to wait for.
    await new Promise((resolve) => setInterval(resolve, 2 ** 31 - 1))
  }
  await bytes.put(APP, halves())
}

export const PARTS = { put, begin }
