import { requirePackages } from '../../packages.ts'

/** Variables of PostgreSQL's own programs by the parameter of an address. */
const PARAMETERS: Readonly<Record<string, string>> = {
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  options: 'PGOPTIONS',
  connect_timeout: 'PGCONNECT_TIMEOUT',
}

/**
 * The environment in which PostgreSQL's own programs connect to an address. A password is no argument, which
 * every user of the machine could read.
 */
export async function environmentOf(url: string): Promise<Readonly<Record<string, string>>> {
  requirePackages('A PostgreSQL database', ['pg'])
  const { default: pg } = await import('pg')
  const { host, port, user, database, password, ssl } = new pg.Client({ connectionString: url })
  const given: Readonly<Record<string, string | null | undefined>> = {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGDATABASE: database,
    PGPASSWORD: password,
    PGSSLROOTCERT: process.env['PGSSLROOTCERT'],
    ...parametersOf(url),
    ...sslModeOf(ssl),
  }
  return Object.fromEntries(
    Object.entries(given).filter((pair): pair is [string, string] => Boolean(pair[1])),
  )
}

/**
 * The daemon's driver verifies a certificate unless it is told not to, while PostgreSQL's own programs verify
 * none by default, and go on in plain text.
 */
function sslModeOf(ssl: unknown): Readonly<Record<string, string>> {
  if (ssl === undefined || ssl === null || ssl === false) return {}
  const isUnverified =
    typeof ssl === 'object' && 'rejectUnauthorized' in ssl && ssl.rejectUnauthorized === false
  return { PGSSLMODE: isUnverified ? 'require' : 'verify-full' }
}

function parametersOf(url: string): Readonly<Record<string, string>> {
  const found = [...(URL.parse(url)?.searchParams ?? [])]
  return Object.fromEntries(
    found.flatMap(([name, value]) => {
      const variable = PARAMETERS[name]
      return variable === undefined ? [] : [[variable, value] as const]
    }),
  )
}
