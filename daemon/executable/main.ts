/** The entry of the single executable: the daemon and its commands, or the child that reads one document. */
import { READ_DOCUMENT } from '../../plugins/executable.ts'
import { readDocument } from '../../plugins/registry.ts'
import { provideOwnPackage } from '../composition/extensions/own-package.ts'

/** What plugins and families of third parties import. */
async function ownEntries(): Promise<ReadonlyMap<string, object>> {
  return new Map<string, object>([
    ['keyhook', await import('../../lib/index.ts')],
    ['keyhook/families', await import('../families/define.ts')],
    ['keyhook/plugins', await import('../../plugins/plugin.ts')],
    ['keyhook/plugins/apps', await import('../../plugins/apps/contract.ts')],
    ['keyhook/plugins/billing', await import('../../plugins/billing/contract.ts')],
    ['keyhook/plugins/deploy', await import('../../plugins/deploy/contract.ts')],
    ['keyhook/plugins/destinations', await import('../../plugins/destinations/contract.ts')],
    ['keyhook/plugins/edits', await import('../../plugins/edits/contract.ts')],
    ['keyhook/plugins/embeddings', await import('../../plugins/embeddings/contract.ts')],
    ['keyhook/plugins/files', await import('../../plugins/files/contract.ts')],
    ['keyhook/verify', await import('../../lib/webhook/verify.ts')],
  ])
}

if (process.argv[2] === READ_DOCUMENT) {
  // The child reads its arguments as the program of a file does.
  process.argv.splice(2, 1)
  await readDocument()
} else {
  provideOwnPackage(ownEntries)
  await import('../main.ts')
}
