/** Whether a text is the address of a PostgreSQL server; any other is the path of a SQLite file. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:/.test(text)
}
