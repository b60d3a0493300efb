/**
 * `keyhook/plugins/files/readers`: the built-in readers, and several readers as one.
 *
 * @module
 */
import { POSITIVE, declareArguments, optional, optionsOf } from '../../lib/internal/arguments.ts'
import type { FileProcessor } from './contract.ts'
import { createFileProcessor } from './extract.ts'

export { combineReaders } from './combine.ts'

const readBuiltIn = declareArguments('createBuiltInReader', {
  options: optionsOf({ children: optional(POSITIVE) }),
})

/**
 * Creates the reader of pdf, docx, xlsx, html, markdown, csv, tsv, json and plain text, which reads each file in
 * a child process of its own. Those whose packages are not installed are left out: unpdf for pdf, mammoth and
 * fflate for docx, read-excel-file and fflate for xlsx, csv-parse for csv and tsv.
 *
 * @param options.children maximum concurrent child processes; more files wait. Default 1
 */
export function createBuiltInReader(
  ...args: readonly [options?: { readonly children?: number }]
): FileProcessor {
  const [options = {}] = readBuiltIn(args) as typeof args
  return createFileProcessor(options)
}
