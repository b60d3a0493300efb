import type { ChangeSink } from '../../store/contract/changes.ts'
import type { SignInReads, SignInWrites } from '../contract/sign-in.ts'
import { NO_SIGN_IN } from '../contract/sign-in.ts'
import type { Query } from '../../store/sql/client.ts'
import { insertion } from '../../store/sql/rows.ts'
import { recordsOf } from '../model/records.ts'
import { SIGN_IN } from '../models/sign-in.ts'
import type { PlatformTables } from './tables.ts'

export function signInReads(query: Query, t: PlatformTables): SignInReads {
  return { get: (app_id) => recordsOf(query, t, SIGN_IN).get({ app_id }) }
}

export function signInWrites(query: Query, t: PlatformTables, sink: ChangeSink): SignInWrites {
  return {
    ...signInReads(query, t),
    async change(app_id, changes, updated_at) {
      const values = SIGN_IN.toRow({ ...NO_SIGN_IN, ...changes, app_id, updated_at })
      const { sql, bind } = insertion(SIGN_IN.columns, values)
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
