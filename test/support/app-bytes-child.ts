import { createHash } from 'node:crypto'
import { openDiskBytes } from '../../plugins/apps/disk.ts'

/** What the child tells before and after it does it. */
export type Told =
  | { readonly does: 'write' }
  | { readonly does: 'kept' | 'remove'; readonly sha256: string }

export const CHILD_APP = 'app00001'

/** Puts, renews and removes without end, until it is killed. */
async function run(folder: string, seed: string): Promise<void> {
  const bytes = await openDiskBytes({ folder, clock: { now: Date.now } })
  const tell = (told: Told): void => {
    process.send?.(told)
  }

  async function* stream(turn: number): AsyncGenerator<Uint8Array> {
    for (let chunk = 0; chunk < 3; chunk += 1) {
      tell({ does: 'write' })
      const block = createHash('sha512').update(`${seed} ${turn} ${chunk}`).digest()
      yield Buffer.alloc(20_000 + turn, block)
    }
  }

  for (let turn = 0; ; turn += 1) {
    const { sha256 } = await bytes.put(CHILD_APP, stream(turn))
    tell({ does: 'kept', sha256 })
    await bytes.put(CHILD_APP, stream(0))
    if (turn % 3 === 1) {
      tell({ does: 'remove', sha256 })
      await bytes.remove(CHILD_APP, [sha256], Number.MAX_SAFE_INTEGER)
    }
    if (turn % 4 === 3) {
      await bytes.put('app00002', stream(turn))
      await bytes.drop('app00002')
    }
  }
}

const [folder, seed] = process.argv.slice(2)
if (process.send !== undefined && folder !== undefined && seed !== undefined) {
  await run(folder, seed)
}
