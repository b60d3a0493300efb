import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A program of a backend that commits orders with their events, in a language or a shell. */
export interface Writer {
  readonly name: string
  readonly dialect: 'sqlite' | 'postgres'
  /**
   * Prints `begun`, then commits every second of `count` orders and rolls the others back, then prints `open`
   * inside a transaction that it does not end.
   *
   * @param url as in `KEYHOOK_OUTBOX_URL`
   */
  command(url: string, first: number, count: number): readonly string[]
  /** Standard input. */
  input?(first: number, count: number): string
}

interface Candidate extends Writer {
  /** The program of its language or shell, with an argument that has it print its version. */
  readonly toolchain: readonly [program: string, version: string]
  readonly driver: string
  /** Commands that install the driver into the folder; none where it is part of the toolchain. */
  readonly install?: readonly (readonly string[])[]
  /** Prepares the program; false when its driver is missing. */
  isReady(): boolean
}

export interface MissingWriter {
  readonly name: string
  /** The program that is not installed, or the driver: `psycopg`. */
  readonly lacks: string
  readonly isToolchain: boolean
}

/**
 * The writers of this machine, those in Node always, and what the others lack.
 *
 * @param installs whether drivers are installed into the folder, from the registries of their languages
 */
export function findWriters(
  folder: string,
  installs: boolean,
): {
  readonly writers: readonly Writer[]
  readonly missing: readonly MissingWriter[]
} {
  const writers: Writer[] = []
  const missing: MissingWriter[] = []
  for (const one of [...node(folder), ...shells(), ...python(folder), go(folder), java(folder)]) {
    const { name, toolchain, install = [] } = one
    const isThere = succeeds(toolchain)
    if (isThere && installs) for (const command of install) runInstall(command, folder)
    if (isThere && one.isReady()) writers.push(one)
    else missing.push({ name, lacks: isThere ? one.driver : toolchain[0], isToolchain: !isThere })
  }
  return { writers, missing }
}

const succeeds = ([program = '', ...args]: readonly string[], cwd?: string): boolean =>
  spawnSync(program, args, { cwd, stdio: 'ignore', env: OFFLINE }).status === 0

/** A registry that does not answer is a driver that is missing. */
function runInstall([program = '', ...args]: readonly string[], cwd: string): void {
  spawnSync(program, args, { cwd, stdio: 'ignore', timeout: 120_000 })
}

/** Nothing is downloaded but by an installation. */
const OFFLINE = {
  ...process.env,
  GOPROXY: 'off',
  GOFLAGS: '-mod=mod',
  GONOSUMDB: '*',
  GONOSUMCHECK: '1',
}

const fileOf = (url: string): string => url.replace(/^sqlite:\/\//, '')

const statements = (number: number): string => `
  INSERT INTO orders VALUES ('o_${number}');
  INSERT INTO keyhook_outbox (account_id, type, data)
    VALUES ('acct_1', 'order.paid', '{"number":"o_${number}"}');`

/** @param print the shell's command that runs another program, whose output nothing holds back */
function script(print: string, first: number, count: number): string {
  const ended = Array.from(
    { length: count },
    (_, index) =>
      `BEGIN;${statements(first + index)}\n${index % 2 === 0 ? 'COMMIT' : 'ROLLBACK'};\n`,
  )
  return `${print} begun\n${ended.join('')}BEGIN;${statements(first + count)}\n${print} open\n`
}

function shells(): readonly Candidate[] {
  return [
    {
      name: 'sqlite3',
      dialect: 'sqlite',
      driver: 'none',
      toolchain: ['sqlite3', '--version'],
      isReady: () => true,
      command: (url) => ['sqlite3', '-bail', '-cmd', '.timeout 20000', fileOf(url)],
      input: (first, count) => script('.system echo', first, count),
    },
    {
      name: 'psql',
      dialect: 'postgres',
      driver: 'none',
      toolchain: ['psql', '--version'],
      isReady: () => true,
      command: (url) => ['psql', '-qtA', '-v', 'ON_ERROR_STOP=1', url],
      input: (first, count) => script('\\! echo', first, count),
    },
  ]
}

/** The drivers of this project's own dependencies: nothing else needs to be installed. */
const NODE = `
const [url, first, count] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])]
const run = await connect(url)
async function order(number) {
  await run('BEGIN')
  await run('INSERT INTO orders VALUES ($1)', [number])
  await run('INSERT INTO keyhook_outbox (account_id, type, data) VALUES ($1, $2, $3)',
    ['acct_1', 'order.paid', JSON.stringify({ number })])
}
console.log('begun')
for (let index = 0; index < count; index += 1) {
  await order('o_' + (first + index))
  await run(index % 2 === 0 ? 'COMMIT' : 'ROLLBACK')
}
await order('o_' + (first + count))
console.log('open')
setTimeout(() => undefined, 600_000)
`

const importOf = (name: string, driver: string): string =>
  `import ${name} from ${JSON.stringify(import.meta.resolve(driver))}\n`

function node(folder: string): readonly Candidate[] {
  const drivers = {
    sqlite3: {
      dialect: 'sqlite',
      connect: `${importOf('sqlite3', 'sqlite3')}import { promisify } from 'node:util'
async function connect(file) {
  const database = new sqlite3.Database(file)
  const run = promisify(database.run.bind(database))
  await run('PRAGMA busy_timeout = 20000')
  return (sql, values = []) => run(sql, values)
}`,
    },
    pg: {
      dialect: 'postgres',
      connect: `${importOf('pg', 'pg')}
async function connect(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return (sql, values) => client.query(sql, values)
}`,
    },
  } as const
  return Object.entries(drivers).map(([driver, { dialect, connect }]): Candidate => {
    const program = join(folder, `${driver}-writer.mjs`)
    return {
      name: `Node, ${driver}`,
      dialect,
      driver,
      toolchain: [process.execPath, '--version'],
      isReady() {
        writeFileSync(program, connect + NODE)
        return true
      },
      command: (url, first, count) => [
        process.execPath,
        program,
        fileOf(url),
        String(first),
        String(count),
      ],
    }
  })
}

/** @param mark placeholder of a parameter */
const pythonWith = (connect: string, mark: string): string => `
import json, sys, time
${connect}
first, count = int(sys.argv[2]), int(sys.argv[3])
print("begun", flush=True)
def order(cursor, number):
    cursor.execute("INSERT INTO orders VALUES (${mark})", [number])
    cursor.execute(
        "INSERT INTO keyhook_outbox (account_id, type, data) VALUES (${mark}, ${mark}, ${mark})",
        ["acct_1", "order.paid", json.dumps({"number": number})],
    )
for index in range(count):
    order(connection.cursor(), f"o_{first + index}")
    connection.commit() if index % 2 == 0 else connection.rollback()
order(connection.cursor(), f"o_{first + count}")
print("open", flush=True)
time.sleep(600)
`

const PSYCOPG = [
  ['python3', '-m', 'venv', 'venv'],
  ['venv/bin/pip', 'install', 'psycopg[binary]==3.2.9'],
] as const

function python(folder: string): readonly Candidate[] {
  const drivers = {
    sqlite3: {
      dialect: 'sqlite',
      text: pythonWith(
        'import sqlite3\nconnection = sqlite3.connect(sys.argv[1], timeout=20)',
        '?',
      ),
    },
    psycopg: {
      dialect: 'postgres',
      text: pythonWith('import psycopg\nconnection = psycopg.connect(sys.argv[1])', '%s'),
    },
  } as const
  return Object.entries(drivers).map(([driver, { dialect, text }]): Candidate => {
    const program = join(folder, `${driver}_writer.py`)
    const python = (): string => {
      const own = join(folder, 'venv/bin/python')
      return driver === 'psycopg' && existsSync(own) ? own : 'python3'
    }
    return {
      name: `Python, ${driver}`,
      dialect,
      driver,
      toolchain: ['python3', '--version'],
      install: driver === 'psycopg' ? PSYCOPG : [],
      isReady() {
        writeFileSync(program, text)
        return succeeds([python(), '-c', `import ${driver}`])
      },
      command: (url, first, count) => [
        python(),
        program,
        fileOf(url),
        String(first),
        String(count),
      ],
    }
  })
}

const GO = `package main

import (
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"time"

	_ "github.com/lib/pq"
)

func order(tx *sql.Tx, number string) {
	must2(tx.Exec("INSERT INTO orders VALUES ($1)", number))
	must2(tx.Exec("INSERT INTO keyhook_outbox (account_id, type, data) VALUES ($1, $2, $3)",
		"acct_1", "order.paid", fmt.Sprintf("{\\"number\\":%q}", number)))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func must2(_ sql.Result, err error) { must(err) }

func main() {
	db, err := sql.Open("postgres", os.Args[1])
	must(err)
	first, _ := strconv.Atoi(os.Args[2])
	count, _ := strconv.Atoi(os.Args[3])
	fmt.Println("begun")
	for index := 0; index <= count; index++ {
		tx, err := db.Begin()
		must(err)
		order(tx, fmt.Sprintf("o_%d", first+index))
		if index == count {
			fmt.Println("open")
			time.Sleep(10 * time.Minute)
		} else if index%2 == 0 {
			must(tx.Commit())
		} else {
			must(tx.Rollback())
		}
	}
}
`

/** Built once. */
function go(folder: string): Candidate {
  const program = join(folder, 'go-writer')
  writeFileSync(join(folder, 'main.go'), GO)
  writeFileSync(
    join(folder, 'go.mod'),
    'module writer\n\ngo 1.21\n\nrequire github.com/lib/pq v1.10.9\n',
  )
  return {
    name: 'Go, lib/pq',
    dialect: 'postgres',
    driver: 'lib/pq',
    toolchain: ['go', 'version'],
    install: [['go', 'mod', 'tidy']],
    isReady: () => succeeds(['go', 'build', '-o', program, '.'], folder),
    command: (url, first, count) => [program, settingsOf(url), String(first), String(count)],
  }
}

/** The address of a test's server, which listens on a Unix socket, as lib/pq reads it. */
function settingsOf(url: string): string {
  const { searchParams, username, pathname } = new URL(url)
  const host = searchParams.get('host') ?? ''
  return `host=${host} user=${username} dbname=${pathname.slice(1)} sslmode=disable`
}

const JAVA = `import java.sql.*;

class Writer {
  static void order(Connection connection, String number) throws SQLException {
    try (var row = connection.prepareStatement("INSERT INTO orders VALUES (?)")) {
      row.setString(1, number);
      row.executeUpdate();
    }
    try (var row = connection.prepareStatement(
        "INSERT INTO keyhook_outbox (account_id, type, data) VALUES (?, ?, ?)")) {
      row.setString(1, "acct_1");
      row.setString(2, "order.paid");
      row.setString(3, "{\\"number\\":\\"" + number + "\\"}");
      row.executeUpdate();
    }
  }

  public static void main(String[] args) throws Exception {
    var connection = DriverManager.getConnection("jdbc:sqlite:" + args[0] + "?busy_timeout=20000");
    connection.setAutoCommit(false);
    int first = Integer.parseInt(args[1]);
    int count = Integer.parseInt(args[2]);
    System.out.println("begun");
    for (int index = 0; index < count; index++) {
      order(connection, "o_" + (first + index));
      if (index % 2 == 0) connection.commit(); else connection.rollback();
    }
    order(connection, "o_" + (first + count));
    System.out.println("open");
    Thread.sleep(600_000);
  }
}
`

const SQLITE_JDBC = 'org.xerial:sqlite-jdbc:3.50.3.0'

function java(folder: string): Candidate {
  const driver = join(folder, 'sqlite-jdbc.jar')
  const classes = `${folder}:${driver}`
  return {
    name: 'Java, SQLite JDBC',
    dialect: 'sqlite',
    driver: 'SQLite JDBC',
    toolchain: ['javac', '-version'],
    install: [
      [
        'mvn',
        '-q',
        'dependency:copy',
        `-Dartifact=${SQLITE_JDBC}`,
        `-DoutputDirectory=${folder}`,
        '-Dmdep.stripVersion=true',
      ],
    ],
    isReady() {
      if (!existsSync(driver)) return false
      const source = join(folder, 'Writer.java')
      writeFileSync(source, JAVA)
      try {
        execFileSync('javac', ['-d', folder, source], { stdio: 'ignore' })
        return true
      } catch {
        return false
      }
    },
    command: (url, first, count) => [
      'java',
      '-cp',
      classes,
      'Writer',
      fileOf(url),
      String(first),
      String(count),
    ],
  }
}
