/** A word that must not come back into names, comments and texts. */
export interface ForbiddenWord {
  /** Lower case. `bear` also finds `bear` in `bearDelivery` and in `TO_BEAR`. */
  readonly words: readonly string[]
  /** The words of the field. */
  readonly say: string
  /** Paths that may still have it: a stored name, or a folder that is not yet converted. */
  readonly except?: readonly string[]
}

/** Folders whose names, comments and texts are checked. */
export const FOLDERS: readonly string[] = ['lib', 'plugins', 'daemon', 'studio']

const STORED_SECRETS: readonly string[] = [
  'plugins/store/sql/webhooks.ts',
  'plugins/store/sql/encrypted-secrets.ts',
  'plugins/store/sql/migrations/webhooks.ts',
  'plugins/platform/contract/services.ts',
  'plugins/platform/sql/services.ts',
  'plugins/platform/migrations/settings.ts',
  'plugins/platform/models/',
  'plugins/platform/open.ts',
  // Names of the wire.
  'daemon/cli/doctor.ts',
  'daemon/cli/print.ts',
  'daemon/client/routes.ts',
  'daemon/families/index.ts',
  'daemon/families/seals/',
  'daemon/machine/master-key.ts',
  'daemon/worker/reencrypt.ts',
]

export const FORBIDDEN: readonly ForbiddenWord[] = [
  {
    words: ['bear', 'bore', 'birth', 'births'],
    say: 'create, enqueue, publish',
    except: ['plugins/platform/contract/apps.ts'],
  },
  { words: ['born'], say: 'create', except: ['plugins/store/conformance/'] },
  { words: ['wake', 'wakes', 'waking', 'woken'], say: 'work available, notify' },
  {
    words: ['lane', 'lanes'],
    say: 'queue of a webhook, limiter',
    except: ['plugins/store/sql/postgres/notifications.ts'],
  },
  { words: ['appetite', 'hungry'], say: 'prefetch budget, needs prefetch' },
  { words: ['leap', 'leaps', 'leapt'], say: 'clock jump' },
  { words: ['standing', 'standings'], say: 'status' },
  {
    words: ['seal', 'seals', 'sealed', 'sealing', 'reseal', 'resealed'],
    say: 'encrypt, encrypted, reencrypt',
    except: STORED_SECRETS,
  },
  {
    words: ['presence', 'news'],
    say: 'membership, notification',
    except: ['daemon/families/apps/reserved-names.ts'],
  },
  {
    words: ['era', 'eras'],
    say: 'epoch',
    // The library of MCP names the revisions of its protocol so.
    except: [
      'plugins/store/sql/postgres/feed.ts',
      'daemon/mcp/endpoint.ts',
      'daemon/mcp/server.ts',
    ],
  },
  { words: ['loan', 'lend', 'lent'], say: 'connection lease' },
  { words: ['crowd'], say: 'connection limiter' },
  { words: ['pour', 'pours'], say: 'stream' },
  { words: ['patience'], say: 'timeout, maximum wait' },
  { words: ['edition'], say: 'version' },
  { words: ['stuck'], say: 'backpressure' },
  { words: ['owe', 'owed', 'owes'], say: 'pending release' },
  {
    words: ['poise', 'poised'],
    say: 'prepare switch',
    except: [
      'plugins/platform/contract/deployments.ts',
      'plugins/platform/sql/deployments.ts',
      'plugins/platform/sql/sites.ts',
      'plugins/platform/migrations/deployments.ts',
      'plugins/platform/models/deployments.ts',
    ],
  },
  { words: ['unheard'], say: 'missed, lost' },
  { words: ['heart', 'hearts'], say: 'heartbeat' },
  { words: ['heed', 'heeds', 'heeded'], say: 'ignore, obey' },
  { words: ['earnest'], say: 'dry run' },
  { words: ['workshop'], say: 'tools' },
  { words: ['whom'], say: 'a sentence with a subject' },
]
