import type { KeyRecord } from '../../../lib/key/record.ts'
import type { Tables } from './tables.ts'

/*
 * A key ends with the first of its line (itself and its ancestors) that is revoked or expires. Verification
 * reads the line itself. Counting, listing and deleting must not, since an account may have any number of
 * keys that ended: every row says when its line ends, in `ends_at` and `line_revoked`, and each change of a
 * revocation or an expiry updates the live keys below in the same unit of work. Units run one after
 * another, so no child is inserted meanwhile.
 */

/** `ends_at` of a line that does not expire. */
export const NEVER: number = Number.MAX_SAFE_INTEGER

/** A condition: no key of the line was revoked or had expired at `$1`. Served by the index of live keys. */
export const LIVE_LINE = '(line_revoked = 0 AND ends_at > $1)'

/** When a line ends, for the INSERT of its last key; its parameters are bound from `$from` on. */
export function endColumns(
  t: Tables,
  { parent_id, expires_at, revoked_at }: KeyRecord,
  from: number,
): { readonly columns: string; readonly values: string; readonly bind: readonly unknown[] } {
  const parent = `CAST($${from} AS TEXT)`
  const own = `CAST($${from + 1} AS BIGINT)`
  const revoked = `CAST($${from + 2} AS SMALLINT)`
  return {
    columns: 'ends_at, line_revoked',
    values: `COALESCE((SELECT p.ends_at FROM ${t.keys} p WHERE p.id = ${parent} AND p.ends_at < ${own}), ${own}),
      COALESCE((SELECT p.line_revoked FROM ${t.keys} p WHERE p.id = ${parent} AND p.line_revoked = 1), ${revoked})`,
    bind: [
      parent_id,
      Math.min(expires_at ?? NEVER, revoked_at ?? NEVER),
      revoked_at === null ? 0 : 1,
    ],
  }
}

/** The key `$1` and the keys below it that were live at `$2`, as the recursive table `tree`. */
export function liveTree(t: Tables): string {
  return `tree AS (
    SELECT id FROM ${t.keys} WHERE id = $1
    UNION ALL
    SELECT k.id FROM ${t.keys} k JOIN tree ON k.parent_id = tree.id
    WHERE k.line_revoked = 0 AND k.ends_at > $2
  )`
}

/** Updates when the lines of key `$1` and of all live keys below it end, at `$2`, after it was changed. */
export function spreadEnds(t: Tables): string {
  const least = (a: string, b: string) => `CASE WHEN ${a} < ${b} THEN ${a} ELSE ${b} END`
  const own = least(`COALESCE(k.expires_at, ${NEVER})`, `COALESCE(k.revoked_at, ${NEVER})`)
  return `WITH RECURSIVE tree (id, ends_at, line_revoked) AS (
      SELECT k.id, ${least(`COALESCE(p.ends_at, ${NEVER})`, own)},
        CASE WHEN k.revoked_at IS NULL THEN COALESCE(p.line_revoked, 0) ELSE 1 END
      FROM ${t.keys} k LEFT JOIN ${t.keys} p ON p.id = k.parent_id WHERE k.id = $1
      UNION ALL
      SELECT k.id, ${least('tree.ends_at', own)}, tree.line_revoked
      FROM ${t.keys} k JOIN tree ON k.parent_id = tree.id
      WHERE k.line_revoked = 0 AND k.ends_at > $2
    )
    UPDATE ${t.keys} SET ends_at = tree.ends_at, line_revoked = tree.line_revoked
    FROM tree WHERE ${t.keys}.id = tree.id AND ${t.keys}.id IN (SELECT id FROM tree)
      AND (${t.keys}.ends_at <> tree.ends_at OR ${t.keys}.line_revoked <> tree.line_revoked)`
}
