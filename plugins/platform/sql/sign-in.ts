import type { ChangeSink } from '../../store/contract/changes.ts'
import type {
  SignInReads,
  SignInRecord,
  SignInSettings,
  SignInWrites,
} from '../contract/sign-in.ts'
import { NO_SIGN_IN } from '../contract/sign-in.ts'
import type { Query } from '../../store/sql/client.ts'
import type { Row } from '../../store/sql/rows.ts'
import { insertion, integer } from '../../store/sql/rows.ts'
import type { PlatformTables } from './tables.ts'

const COLUMNS = [
  'app_id',
  'enabled',
  'providers',
  'allowed_redirects',
  'session_ttl',
  'signup',
  'updated_at',
] as const

export function signInReads(query: Query, t: PlatformTables): SignInReads {
  return {
    async get(appId) {
      const [row] = await query(`SELECT * FROM ${t.sign_in} WHERE app_id = $1`, [appId])
      return row && toSignIn(row)
    },
  }
}

export function signInWrites(query: Query, t: PlatformTables, sink: ChangeSink): SignInWrites {
  return {
    ...signInReads(query, t),
    async change(app_id, changes, updated_at) {
      const values = toValues({ ...NO_SIGN_IN, ...changes, app_id, updated_at })
      const { sql, bind } = insertion(COLUMNS, values)
      const changed = [...Object.keys(changes), 'updated_at']
      await query(
        `INSERT INTO ${t.sign_in} ${sql} ON CONFLICT (app_id) DO UPDATE
         SET ${changed.map((column) => `${column} = excluded.${column}`).join(', ')}`,
        bind,
      )
      sink.push({ kind: 'site', id: app_id })
    },
  }
}

/** Deletes how the users of an app sign in. */
export async function purgeSignIn(query: Query, t: PlatformTables, appId: string): Promise<void> {
  await query(`DELETE FROM ${t.sign_in} WHERE app_id = $1`, [appId])
}

function toValues(record: SignInRecord): Readonly<Record<(typeof COLUMNS)[number], unknown>> {
  return {
    ...record,
    enabled: record.enabled ? 1 : 0,
    providers: JSON.stringify(record.providers),
    allowed_redirects: JSON.stringify(record.allowed_redirects),
  }
}

function toSignIn(row: Row): SignInRecord {
  return {
    app_id: String(row['app_id']),
    enabled: integer(row['enabled']) === 1,
    providers: JSON.parse(String(row['providers'])) as string[],
    allowed_redirects: JSON.parse(String(row['allowed_redirects'])) as string[],
    session_ttl: integer(row['session_ttl']),
    signup: row['signup'] as SignInSettings['signup'],
    updated_at: integer(row['updated_at']),
  }
}
