import type { ModelAttributes, ModelStatic, Model as SequelizeModel } from 'sequelize'
import { DataTypes, Sequelize } from 'sequelize'
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

/** What is used of Sequelize's generator of statements, for which it has no types. */
interface Generator {
  insertQuery(table: unknown, row: Names, attributes: object, options: Binding): { query: string }
  updateQuery(
    table: unknown,
    row: Names,
    guard: Guard,
    options: Binding,
    attributes: object,
  ): { query: string }
}

/** In place of values, which a statement that is kept must not hold: each column's name. */
type Names = Readonly<Record<string, string>>

/** Takes what is bound, in the order of the statement, and returns what stands for it. */
interface Binding {
  bindParam(name: unknown): string
}

/** A model with the statements that were written of it, by their columns. */
interface Written {
  readonly model: ModelStatic<SequelizeModel>
  readonly statements: Map<string, string>
}

/**
 * Declares the models to Sequelize, which writes their statements, each once (decision 89). It opens no connection: on
 * SQLite a second writer would wait for the first, and on PostgreSQL a second pool would not hold the lock of units of
 * work. The core's unit of work runs them, prepared, timed and judged as its own.
 *
 * @param dialectModule the driver of PostgreSQL, which Sequelize asks for and does not use; of SQLite an empty object
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
    define: { timestamps: false, freezeTableName: true },
  })
  const generator = sequelize.getQueryInterface().queryGenerator as Generator
  const known = new Map<Model, Written>(
    declared.map((one) => [one, { model: define(sequelize, tables, one), statements: new Map() }]),
  )

  /**
   * @param names of the columns that it binds, in order
   * @param write is called once for each shape
   */
  function statementOf(
    declaration: Model,
    shape: string,
    names: readonly string[],
    write: (model: ModelStatic<SequelizeModel>, options: Binding) => string,
  ): string {
    const written = known.get(declaration)
    if (written === undefined) {
      throw new TypeError(`${declaration.table} is not among the declared models`)
    }
    const { model, statements } = written
    const found = statements.get(shape)
    if (found !== undefined) return found
    const bound: unknown[] = []
    const statement = write(model, { bindParam: (name) => `$${bound.push(name)}` })
    if (bound.join() !== names.join()) throw new TypeError(`bound in another order: ${statement}`)
    statements.set(shape, statement)
    return statement
  }

  return {
    rowsOn: (query) => ({
      async insert(declaration, row) {
        const columns = columnsOf(row)
        const statement = statementOf(declaration, columns.join(), columns, (model, options) => {
          const [table, attributes] = [model.getTableName(), model.getAttributes()]
          const written = generator.insertQuery(table, named(row), attributes, options)
          return written.query.replace(/;$/, '')
        })
        await query(statement, Object.values(row))
      },
      async update(declaration, guard, row) {
        const columns = columnsOf(row)
        const bound = boundIn(guard)
        if (columns.length === 0) return 0
        const shape = `${columns.join()} where ${shapeOf(guard)}`
        const names = [...columns, ...Object.keys(bound)]
        const statement = statementOf(declaration, shape, names, (model, options) => {
          const [table, attributes] = [model.getTableName(), model.getAttributes()]
          const where = { ...guard, ...named(bound) }
          const written = generator.updateQuery(table, named(row), where, options, attributes)
          return `${written.query} RETURNING 1`
        })
        const changed = await query(statement, [...Object.values(row), ...Object.values(bound)])
        return changed.length
      },
    }),
  }
}

const named = (values: Row): Names =>
  Object.fromEntries(Object.keys(values).map((name) => [name, name]))

/** @throws TypeError for a value that is undefined, which would be written as null */
function columnsOf(row: Row): readonly string[] {
  const columns = Object.keys(row)
  const missing = columns.find((name) => row[name] === undefined)
  if (missing !== undefined) throw new TypeError(`${missing} has no value`)
  return columns
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

/**
 * What of a guard is bound. Sequelize writes lists and comparisons into the text of a statement, which is kept for
 * other values: only equality is bound.
 */
function boundIn(guard: Guard): Guard {
  for (const [name, value] of Object.entries(guard)) {
    const isBound = value === null || typeof value === 'string' || typeof value === 'number'
    if (!isBound) throw new TypeError(`the guard of ${name} is not compared for equality`)
  }
  return Object.fromEntries(Object.entries(guard).filter(([, value]) => value !== null))
}

const shapeOf = (guard: Guard): string =>
  Object.entries(guard)
    .map(([name, value]) => (value === null ? `${name} is null` : name))
    .join()
