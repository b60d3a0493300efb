/** The site that `npm run docs:site` makes: every link leads somewhere, the search finds, and nothing else is asked. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import sirv from 'sirv'
import t from 'tap'
import { MINUTE } from '../../lib/time.ts'
import { SIDEBAR } from '../../daemon/site/navigation.ts'
import { ROOT } from '../arch/source.ts'
import { openChromium } from './chromium.ts'
import { openVisitor } from './studio/visitor.ts'

t.setTimeout(10 * MINUTE)

const folder = t.testdir({ site: { '0.0.1': {} } })
const site = join(folder, 'site')
const build = join(ROOT, 'dist/daemon/site/main.js')
await promisify(execFile)(process.execPath, [build, '--output', site], { cwd: ROOT })
const versions = JSON.parse(readFileSync(join(site, 'versions.json'), 'utf8')) as readonly string[]
const [version = ''] = versions

const files = sirv(site)
const server = createServer((request, response) => {
  files(request, response, () => {
    response.writeHead(404).end()
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => {
  server.closeAllConnections()
  server.close()
})
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const pages = readdirSync(join(site, version), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.html') && name !== '404.html')
  .map((name) => ({
    at: `/${version}/${name}`,
    text: readFileSync(join(site, version, name), 'utf8'),
  }))
const textAt = new Map(pages.map(({ at, text }) => [at, text]))

await t.test('the version is listed before the one that was there', (t) => {
  t.same(versions.slice(1), ['0.0.1'])
  t.end()
})

await t.test('every page of docs/ is in the side bar', (t) => {
  const linked = SIDEBAR.flatMap(({ items }) => items.map(({ link }) => link))
  const written = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `/${name.slice(0, -'.md'.length)}`)
  t.same(
    written.filter((page) => !linked.includes(page)),
    [],
  )
  t.end()
})

await t.test('every link within the site leads to a page and an anchor that exist', (t) => {
  const broken: string[] = []
  let looked = 0
  for (const { at, text } of pages) {
    for (const [, href = ''] of text.matchAll(/<a [^>]*href="([^"]+)"/g)) {
      const { origin: to, pathname, hash } = new URL(href.replaceAll('&amp;', '&'), origin + at)
      if (to !== origin) continue
      looked += 1
      const isDownload = pathname.includes('/vectors/') || pathname.endsWith('.json')
      const target = textAt.get(pathname.endsWith('/') ? `${pathname}index.html` : pathname)
      if (pathname === '/' || isDownload) continue
      const anchor = decodeURIComponent(hash.slice(1))
      if (target === undefined || (anchor !== '' && !target.includes(`id="${anchor}"`)))
        broken.push(`${at}: ${href}`)
    }
  }
  t.ok(looked > 1000, `${looked} links`)
  t.same(broken, [])
  t.end()
})

await t.test(
  'a reader searches and opens what was found, and no other origin is asked',
  async (t) => {
    const { page, faults } = await openVisitor(t, await openChromium(t), { url: origin })
    await page.goto(`${origin}/${version}/index.html`)
    await page.getByRole('button', { name: 'Search' }).first().click()
    await page.getByRole('searchbox').fill('rotation overlap')
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\.html#/)
    await page.goto(`${origin}/${version}/start.html`)
    await page.getByRole('link', { name: 'API reference' }).first().click()
    await page.waitForURL(/\/reference\//)
    t.ok((await page.getByRole('heading').count()) > 10, 'the reference has its operations')
    await page.goto(`${origin}/`)
    await page.getByRole('link', { name: version }).click()
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    t.same(faults, [])
  },
)
