import { openDatabase } from '../../../plugins/registry.ts'
import { WARM_UP_MS, now } from '../clock.ts'
import { addCredit } from '../ledger.ts'
import { serve } from '../serve.ts'
import { spendOnce } from '../spend.ts'

/** Holds and captures one after the other, as prompts and files do; answers pairs a second. */
async function spend(input: {
  readonly database: string
  readonly seconds: number
}): Promise<number> {
  const { store } = await openDatabase(input.database)
  await addCredit(store)
  const from = now() + WARM_UP_MS * 1000
  const end = from + input.seconds * 1e6
  let count = 0
  for (let at = now(); at < end; at = now()) {
    await spendOnce(store, `bench ${at}`)
    if (at >= from) count += 1
  }
  const perSecond = count / ((now() - from) / 1e6)
  await store.close()
  return perSecond
}

serve({ spend })
