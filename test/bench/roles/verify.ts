import { hash } from 'node:crypto'
import { createKeyhook } from '../../../daemon/embed/index.ts'
import { WARM_UP_MS, now } from '../clock.ts'
import { serve } from '../serve.ts'

const SCOPE = 'events:write'
/** Between two looks at the clock. */
const TURN = 1000

/** Verifications a second as a middleware asks for them, and one-shot hashes of the same token. */
async function verify(input: {
  readonly dataDir: string
  readonly masterKey: string
  readonly seconds: number
}): Promise<{ verified: number; hashed: number }> {
  const { seconds, ...settings } = input
  const keyhook = await createKeyhook({ ...settings, logLevel: 'error', dispatch: false })
  const { key } = await keyhook.as('acc_bench').keys.create({ name: 'bench', scopes: [SCOPE] })
  const token = key ?? ''
  const hashed = await perSecond(seconds, () => {
    for (let turn = 0; turn < TURN; turn++) hash('sha256', token, 'hex')
    return Promise.resolve()
  })
  const verified = await perSecond(seconds, async () => {
    for (let turn = 0; turn < TURN; turn++) await keyhook.keys.verify(token, { scope: SCOPE })
  })
  await keyhook.stop()
  return { verified, hashed }
}

async function perSecond(seconds: number, turn: () => Promise<void>): Promise<number> {
  const from = now() + WARM_UP_MS * 1000
  const end = from + seconds * 1e6
  let turns = 0
  let started = 0
  for (let at = now(); at < end; at = now()) {
    if (at >= from && started === 0) started = at
    await turn()
    if (started > 0) turns++
  }
  return (turns * TURN) / ((now() - started) / 1e6)
}

serve({ verify })
