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
  const { host, port, user, database, password } = new pg.Client({ connectionString: url })
  const given: Readonly<Record<string, string | null | undefined>> = {
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: user,
    PGDATABASE: database,
    PGPASSWORD: password,
    ...parametersOf(url),
  }
  return Object.fromEntries(
    Object.entries(given).filter((pair): pair is [string, string] => Boolean(pair[1])),
  )
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
