import type { Millis } from '../../../lib/time.ts'
import { HOUR } from '../../../lib/time.ts'
import type { AppBytes } from '../../../plugins/apps/contract.ts'
import type { Platform } from '../../platform.ts'
import { loadTree } from '../apps/service.ts'

/** Bytes that came within this time may be of an upload whose record is yet to be made. */
const UNNAMED: Millis = HOUR

/**
 * Takes away the bytes of a file that was deleted, unless something else in the app names them. What came
 * lately, or cannot be judged now, is left to the collection.
 */
export async function forgetBytes(
  { store, appBytes, clock }: Pick<Platform, 'store' | 'appBytes' | 'clock'>,
  appId: string,
  sha256: string,
): Promise<void> {
  if (appBytes === undefined) return
  try {
    const [named] = await store.files.named(appId, [sha256])
    if (named !== undefined || (await isInTree(store, appBytes, appId, sha256))) return
    await appBytes.remove(appId, [sha256], clock.now() - UNNAMED)
  } catch {
    // The file is deleted all the same, and its bytes are looked for again by the collection.
  }
}

const PAGE = 100

/** Whether a revision of the app has these bytes. */
async function isInTree(
  { apps }: Pick<Platform['store'], 'apps'>,
  bytes: AppBytes,
  app_id: string,
  sha256: string,
): Promise<boolean> {
  for (let before: number | null = null, more = true; more;) {
    const page = await apps.revisions({ app_id, limit: PAGE, before })
    for (const revision of page.rows) {
      if (revision.tree === sha256) return true
      const { files } = await loadTree(bytes, revision)
      for (const file of files.values()) if (file.sha256 === sha256) return true
    }
    before = page.rows.at(-1)?.number ?? null
    more = page.more
  }
  return false
}
