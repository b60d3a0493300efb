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

/** What Sequelize has written of a model, once for each choice of columns. */
interface Written {
  readonly model: ModelStatic<SequelizeModel>
  readonly statements: Map<string, string>
}

/** Its generator of statements, which has no declarations of its own. */
interface Generator {
  insertQuery(table: unknown, row: object, attributes: object, options: Binding): { query: string }
  updateQuery(
    table: unknown,
    row: object,
    guard: Guard,
    options: Binding,
    attributes: object,
  ): { query: string }
}

/** Takes a value that is bound, in the order of the statement, and returns what stands for it. */
interface Binding {
  bindParam(value: unknown): string
}

/**
 * Declares the models to Sequelize, which writes their statements. It opens no connection: on SQLite a second writer
 * would wait for the first, and on PostgreSQL a second pool would not hold the lock of units of work. The core's unit
 * of work runs them, prepared, timed and judged as its own. Each is written once: to make an instance and a statement of
 * every row took 0.4 ms, more than to run it.
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
    define: { timestamps: false, freezeTableName: true },
  })
  const generator = sequelize.getQueryInterface().queryGenerator as Generator
  const known = new Map<Model, Written>(
    declared.map((one) => [one, { model: define(sequelize, tables, one), statements: new Map() }]),
  )

  /** @param write asks the generator where no row of this shape was changed before */
  function statementOf(
    declaration: Model,
    shape: string,
    values: readonly unknown[],
    write: (model: ModelStatic<SequelizeModel>, options: Binding) => { query: string },
  ): string {
    const written = known.get(declaration)
    if (written === undefined) {
      throw new TypeError(`${declaration.table} is not among the declared models`)
    }
    const found = written.statements.get(shape)
    if (found !== undefined) return found
    const bound: unknown[] = []
    const { query } = write(written.model, { bindParam: (value) => `$${bound.push(value)}` })
    if (bound.length !== values.length || bound.some((value, index) => value !== values[index])) {
      throw new TypeError(`values of ${declaration.table} are bound in another order`)
    }
    const statement = query.replace(/;$/, '')
    written.statements.set(shape, statement)
    return statement
  }

  return {
    rowsOn: (query) => ({
      async insert(declaration, row) {
        const values = Object.values(row)
        const shape = Object.keys(row).join()
        const statement = statementOf(declaration, shape, values, (model, options) =>
          generator.insertQuery(model.getTableName(), row, model.getAttributes(), options),
        )
        await query(statement, values)
      },
      async update(declaration, guard, row) {
        const values = [...Object.values(row), ...boundIn(guard)]
        const columns = Object.keys(row)
        if (columns.length === 0) return 0
        const shape = `${columns.join()} where ${shapeOf(guard)}`
        const statement = statementOf(declaration, shape, values, (model, options) =>
          generator.updateQuery(model.getTableName(), row, guard, options, model.getAttributes()),
        )
        const changed = await query(`${statement} RETURNING 1`, values)
        return changed.length
      },
    }),
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

/**
 * The values of a guard that are bound. Sequelize writes lists and comparisons into the text of a statement, which is
 * kept for other values: only equality is bound.
 */
function boundIn(guard: Guard): readonly unknown[] {
  for (const [name, value] of Object.entries(guard)) {
    const isBound = value === null || typeof value === 'string' || typeof value === 'number'
    if (!isBound) throw new TypeError(`the guard of ${name} is not compared for equality`)
  }
  return Object.values(guard).filter((value) => value !== null)
}

const shapeOf = (guard: Guard): string =>
  Object.entries(guard)
    .map(([name, value]) => (value === null ? `${name} is null` : name))
    .join()
