import { DEFAULT_PREFIX } from '../../store/opening.ts'
import { nameTables } from '../../store/sql/tables.ts'
import { namePlatformTables } from '../sql/tables.ts'
import type { RestoredChanges, Statement } from './changes.ts'
import { pauseStatements, revokeStatements } from './changes.ts'
import type { DatabaseFacts } from './facts.ts'

const core = nameTables(DEFAULT_PREFIX)
const tables: Readonly<Record<string, string>> = { ...namePlatformTables(DEFAULT_PREFIX), ...core }

/** What a restored database must hold, as its manifest says. */
export interface Expected extends Pick<DatabaseFacts, 'schema'> {
  readonly installation: string
  /** Name of the row of the installation's id. */
  readonly meta: string
  readonly counts: Readonly<Record<string, number>>
}

/**
 * The end of the transaction that restores a dump: it compares what was restored and changes it, so that no
 * daemon ever finds a copy that is half restored, or that would send at once.
 */
export function endOfRestore(expected: Expected, changes: RestoredChanges): string {
  const statements = [...pauseStatements(core, changes), ...revokeStatements(core, changes)]
  return [
    // The dump has emptied it.
    'RESET search_path;',
    `DO ${quote(checksOf(expected))};`,
    ...statements.map((one) => `${printStatement(one)};`),
    'COMMIT;\n',
  ].join('\n')
}

function checksOf({ installation, meta, schema, counts }: Expected): string {
  const checks: readonly (readonly [what: string, sql: string, value: string])[] = [
    ['installation', `SELECT value FROM ${core.meta} WHERE name = ${quote(meta)}`, installation],
    ['schema', `SELECT name FROM ${core.migrations} ORDER BY at DESC, name DESC LIMIT 1`, schema],
    ...Object.entries(counts).map(
      ([name, count]) =>
        [
          name,
          `SELECT CAST(count(*) AS TEXT) FROM ${tables[name] ?? quote(name)}`,
          String(count),
        ] as const,
    ),
  ]
  const lines = checks.map(
    ([what, sql, value]) => `held := (${sql});
      IF held IS DISTINCT FROM ${quote(value)} THEN
        RAISE EXCEPTION 'of % it holds %, and its manifest says %', ${quote(what)}, held, ${quote(value)};
      END IF;`,
  )
  return `DECLARE held TEXT; BEGIN ${lines.join('\n')} END`
}

function printStatement({ sql, bind }: Statement): string {
  return sql.replaceAll(/\$(\d+)/g, (_, position: string) => {
    const value = bind[Number(position) - 1]
    return typeof value === 'number' ? String(value) : quote(value ?? '')
  })
}

/** A literal, for every setting of `standard_conforming_strings`. */
function quote(text: string): string {
  const doubled = text.replaceAll("'", "''")
  return doubled.includes('\\') ? ` E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`
}
