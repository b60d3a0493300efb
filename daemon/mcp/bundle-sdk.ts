/** A step of the build: `sdk.js` becomes a bundle of what it exports, with the licence next to it. */
import { copyFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const place = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

await build({
  input: place('sdk.js'),
  platform: 'node',
  // Schemas of tools are values of the zod that Keyhook itself imports: there has to be one of it.
  external: /^(zod|node:)/,
  output: { file: place('sdk.js'), minify: 'dce-only', codeSplitting: false },
  logLevel: 'warn',
})
const sdk = new URL('../', import.meta.resolve('@modelcontextprotocol/server'))
await copyFile(new URL('LICENSE', sdk), place('sdk.LICENSE'))
