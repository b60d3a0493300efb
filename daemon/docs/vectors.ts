import { readFileSync } from 'node:fs'
import { isExecutable, readAsset } from '../../plugins/executable.ts'

/** Where the file is in the executable. */
export const VECTORS_ASSET = 'vectors/signature.json'

const FILE = new URL('../../../test/vectors/signature.json', import.meta.url)

/** `/docs/vectors/signature.json`: the published deliveries that any receiver can be tested with. */
export function signatureVectors(): string {
  return isExecutable ? readAsset(VECTORS_ASSET).toString('utf8') : readFileSync(FILE, 'utf8')
}
