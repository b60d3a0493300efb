/** `npm run docs:site -- [--base /docs/] [--output site]`: makes the pages of this version, beside those of others. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'vitepress'
import { copyPages } from './pages.ts'
import { writeReference } from './reference.ts'
import { writeVersions } from './versions.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Below the packages, so that VitePress is found from it. */
const STAGE = join(ROOT, 'dist/site')

const { values } = parseArgs({
  options: {
    base: { type: 'string', default: '/' },
    output: { type: 'string', default: join(ROOT, 'site') },
  },
})
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string
}
const output = resolve(values.output)

rmSync(STAGE, { recursive: true, force: true })
copyPages(ROOT, STAGE)
writeReference(join(STAGE, 'public/reference'))
mkdirSync(join(STAGE, '.vitepress/theme'), { recursive: true })
const config = relative(
  join(STAGE, '.vitepress'),
  fileURLToPath(new URL('config.js', import.meta.url)),
)
const files = {
  'config.mjs': `import { siteConfig } from ${JSON.stringify(config)}
export default siteConfig(${JSON.stringify(version)}, ${JSON.stringify(`${values.base}${version}/`)})\n`,
  // The fonts of the reader's system.
  'theme/index.mjs': `export { default } from 'vitepress/theme-without-fonts'\n`,
}
for (const [name, text] of Object.entries(files)) {
  writeFileSync(join(STAGE, '.vitepress', name), text)
}
await build(STAGE, { outDir: join(output, version) })
const versions = writeVersions(output)
process.stdout.write(`${relative(process.cwd(), output)}: ${versions.join(', ')}\n`)
