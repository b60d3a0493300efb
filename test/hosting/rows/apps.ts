import { randomBytes } from 'node:crypto'
import type { Hosting } from '../../support/hosting.ts'
import type { HostedTree } from '../../support/hosted-apps.ts'
import { asset, html, plain } from '../../support/hosted-apps.ts'

/** What every connection that goes on is asked for in the end. */
export const CANARY = 'the canary sings'

/** A shop: files of every kind, and one that is too large to be kept in memory. */
export const SHOP = {
  'index.html': html('shop'),
  'about.html': html('about'),
  '404.html': html('lost'),
  'guide/index.html': html('guide'),
  'guide/intro.html': html('intro'),
  'both.html': html('both, the file'),
  'both/index.html': html('both, the folder'),
  'assets/app.3f9a2c1b.js': asset('new'),
  'logo.png': plain('not really a png', 'image/png'),
  'empty.txt': plain(''),
  'canary.txt': plain(CANARY),
  'letters.txt': plain('abcdefghijklmnopqrstuvwxyz'),
  'with space.txt': plain('a space'),
  'café.txt': plain('an accent'),
  '%.txt': plain('a percent sign'),
  '400': plain('a file that is called 400'),
  '_p/obs.js': plain('of the app itself', 'text/javascript; charset=utf-8'),
  'big.bin': plain(randomBytes(300_000), 'application/octet-stream'),
} satisfies HostedTree

/** What was live before the shop as it is. */
export const EARLIER = {
  'assets/app.00000000.js': asset('old'),
  'old.html': html('old'),
} satisfies HostedTree

export const ROUTER = {
  'index.html': html('router'),
  'assets/app.77777777.js': asset('router'),
} satisfies HostedTree

export const BARE = { 'index.html': html('bare') } satisfies HostedTree

/** Puts the apps of the table under their hosts. Their files are sent to the byte: beacon.test.ts has pages. */
export async function publishAll({ publish, sites }: Hosting): Promise<void> {
  const observe = false
  await publish('shop.localhost', { app_id: 'shop0001', tree: SHOP, earlier: [EARLIER], observe })
  await publish('abc123--shop.localhost', {
    app_id: 'shop0001',
    tree: SHOP,
    preview: true,
  })
  await publish('router.localhost', { app_id: 'router01', tree: ROUTER, spa: true, observe })
  await publish('bare.localhost', { app_id: 'bare0001', tree: BARE })
  sites.set('off.localhost', 'unpublished')
  sites.set('gone.localhost', 'archived')
  sites.set('held.localhost', 'suspended')
}
