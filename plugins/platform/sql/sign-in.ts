import type { SignInReads, SignInWrites } from '../contract/sign-in.ts'
import { NO_SIGN_IN } from '../contract/sign-in.ts'
import { insertion } from '../../store/sql/rows.ts'
import { recordsOf } from '../model/records.ts'
import { SIGN_IN } from '../models/sign-in.ts'
import type { ReadScope, WriteScope } from './scope.ts'

export function signInReads({ query, t }: ReadScope): SignInReads {
  return { get: (app_id) => recordsOf(query, t, SIGN_IN).get({ app_id }) }
}

export function signInWrites(scope: WriteScope): SignInWrites {
  const { query, t, changes: sink } = scope
  return {
    ...signInReads(scope),
    async change(app_id, changes, updated_at) {
      const values = SIGN_IN.toRow({ ...NO_SIGN_IN, ...changes, app_id, updated_at })
      const { sql, bind } = insertion(values)
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
