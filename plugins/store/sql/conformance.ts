/**
 * The conformance suite of a client of the SQL store: the cases that a client of every database and driver must pass,
 * before the store's own suite says anything about it.
 *
 * @example
 * import { test } from 'node:test'
 * import { runCases } from 'keyhook/plugins/conformance'
 * import { sqlClientCases } from 'keyhook/plugins/store/sql/conformance'
 *
 * runCases(sqlClientCases, makeHarness, (name, run) => void test(name, run), ['reopen', 'hold'])
 *
 * @module
 */
import { closingCases } from './conformance/closing.ts'
import { dialectCases } from './conformance/dialect.ts'
import type { SqlClientCase } from './conformance/harness.ts'
import { transactionCases } from './conformance/transactions.ts'
import { valueCases } from './conformance/values.ts'

export type { SqlClientCase, SqlClientHarness } from './conformance/harness.ts'

/** Every case of a client, each on an empty database of its own. */
export const sqlClientCases: readonly SqlClientCase[] = [
  ...valueCases,
  ...transactionCases,
  ...dialectCases,
  ...closingCases,
]
