import type {
  ModelAttributes,
  ModelStatic,
  Model as SequelizeModel,
  Transaction as SequelizeTransaction,
} from 'sequelize'
import { DataTypes, Sequelize, Transaction } from 'sequelize'
import type { Dialect, Query } from '../../store/sql/client.ts'
import type { Row } from '../../store/sql/rows.ts'
import type { PlatformModel, PlatformTables } from '../sql/tables.ts'
import type { ColumnType } from '../../store/sql/columns.ts'
import type { Model } from './define.ts'

/** Columns and the values that a row must have: compared for equality, null included. */
export type Guard = Readonly<Record<string, string | number | null>>

/** Single rows of the platform's models, changed in one unit of work. */
export interface ModelRows {
  insert(model: Model, row: Row): Promise<void>
  /** Changes the rows that the guard matches, and returns how many those were. */
  update(model: Model, guard: Guard, row: Row): Promise<number>
}

/** The platform's models over a database, each for one table. */
export interface Models {
  /** @param query runs statements of the unit of work that the core store has opened */
  rowsOn(query: Query): ModelRows
}

const TYPES: Readonly<Record<ColumnType, () => unknown>> = {
  id: () => DataTypes.TEXT,
  text: () => DataTypes.TEXT,
  smallint: () => DataTypes.SMALLINT,
  integer: () => DataTypes.INTEGER,
  bigint: () => DataTypes.BIGINT,
  serial: () => DataTypes.BIGINT,
  bytes: () => DataTypes.BLOB,
}

/**
 * Declares the models to Sequelize. It opens no connection of its own: on SQLite a second writer would wait
 * for the first, and on PostgreSQL a second pool would not hold the lock of units of work. Its statements
 * run in the core's unit of work, prepared, timed and judged as the core's own.
 *
 * @param dialectModule the driver of the database
 */
export function createModels(
  dialect: Dialect['name'],
  dialectModule: object,
  tables: PlatformTables,
  declared: readonly PlatformModel[],
): Models {
  const sequelize = new Sequelize({
    dialect,
    dialectModule,
    logging: false,
    retry: { max: 1 },
    define: { timestamps: false, freezeTableName: true },
  })
  const known = new Map<Model, ModelStatic<SequelizeModel>>(
    declared.map((model) => [model, define(sequelize, tables, model)]),
  )

  function modelOf(model: Model): ModelStatic<SequelizeModel> {
    const found = known.get(model)
    if (found === undefined) throw new TypeError(`${model.table} is not among the declared models`)
    return found
  }

  return {
    rowsOn(query) {
      // Most units of work change no model: they make no transaction.
      let transaction: SequelizeTransaction | undefined
      const options = () => {
        transaction ??= transactionOn(sequelize, CONNECTIONS[dialect](query))
        return { transaction, hooks: false, validate: false, returning: false }
      }
      return {
        async insert(model, row) {
          await modelOf(model).create(row, options()).catch(unwrap)
        },
        async update(model, guard, row) {
          const [changed] = await modelOf(model)
            .update(row, { ...options(), where: requireGuard(guard) })
            .catch(unwrap)
          return changed
        },
      }
    },
  }
}

function define(
  sequelize: Sequelize,
  tables: PlatformTables,
  { table, schema }: PlatformModel,
): ModelStatic<SequelizeModel> {
  const attributes = [...schema].map(([name, { type, nullable }]) => [
    name,
    { type: TYPES[type](), allowNull: nullable, primaryKey: name === 'id' },
  ])
  const declared = Object.fromEntries(attributes) as ModelAttributes
  const model = sequelize.define(tables[table], declared, { tableName: tables[table] })
  // Sequelize adds one where no attribute is a primary key.
  if (!schema.has('id')) model.removeAttribute('id')
  return model
}

type Done = (this: object, cause: unknown, result?: unknown) => void

/**
 * What Sequelize uses of a driver's connection, over statements of a unit of work. It asks drivers how many
 * rows an update changed; our statements return rows alone, so each changed row returns one.
 */
const CONNECTIONS: Readonly<Record<Dialect['name'], (query: Query) => object>> = {
  sqlite: (query) => {
    const run = (sql: string, bind: Readonly<Record<string, unknown>>, done: Done): void => {
      const values = Object.keys(bind).map((_, index) => bind[`$${index + 1}`])
      query(counted(sql), values).then(
        (rows) => done.call({ changes: rows.length, lastID: 0 }, null, rows),
        (cause: unknown) => done.call({}, cause),
      )
    }
    return { serialize: (work: () => void) => work(), run, all: run }
  },
  postgres: (query) => ({
    query(sql: string, bind: readonly unknown[], done: Done) {
      query(counted(sql), bind).then(
        (rows) => done.call({}, null, { rows, rowCount: rows.length }),
        (cause: unknown) => done.call({}, cause),
      )
    },
  }),
}

function counted(sql: string): string {
  return /^(UPDATE|INSERT)/.test(sql) ? `${sql.replace(/;$/, '')} RETURNING 1` : sql
}

/** A transaction of Sequelize's that the core store begins and ends. */
function transactionOn(sequelize: Sequelize, connection: object): SequelizeTransaction {
  const transaction = new Transaction(sequelize, {})
  return Object.assign(transaction, { connection })
}

/**
 * Sequelize writes lists and comparisons into the text of a statement and then looks for bind parameters in
 * it, so that a value with a dollar sign would change the statement: only equality is bound.
 */
function requireGuard(guard: Guard): Guard {
  for (const [name, value] of Object.entries(guard)) {
    const isBound = value === null || typeof value === 'string' || typeof value === 'number'
    if (!isBound) throw new TypeError(`the guard of ${name} is not compared for equality`)
  }
  return guard
}

/** What the driver said, as the core store reports it. */
function unwrap(cause: unknown): never {
  if (cause instanceof Error && 'parent' in cause && cause.parent instanceof Error) {
    throw cause.parent
  }
  throw cause
}
