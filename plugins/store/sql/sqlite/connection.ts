import sqlite3 from 'sqlite3'

/** @param mode flags of the driver; its default adds a mutex that one owner does not need */
export function openDatabase(file: string, mode: number): Promise<sqlite3.Database> {
  return new Promise((resolve, reject) => {
    const opened = new sqlite3.Database(file, mode, (failed) => {
      if (failed === null) resolve(opened)
      else reject(failed)
    })
  })
}

export function closeDatabase(connection: sqlite3.Database): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.close((failed) => {
      if (failed === null) resolve()
      else reject(failed)
    })
  })
}
