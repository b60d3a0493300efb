/**
 * Names below which registries, or hosts of many sites, give names to anybody: nobody's own. A short
 * list of the well-known ones in place of the whole Public Suffix List, since whose a hostname is must
 * be proved in the DNS anyway.
 *
 * @module
 */

/** What registries of countries name their branches: co.uk, com.au, gov.br. */
const BRANCHES: ReadonlySet<string> = new Set([
  'ac',
  'co',
  'com',
  'edu',
  'gob',
  'gov',
  'ltd',
  'me',
  'mil',
  'ne',
  'net',
  'nom',
  'or',
  'org',
  'plc',
  'sch',
])

/** Where providers give each customer a name. */
const PROVIDERS: ReadonlySet<string> = new Set([
  'amplifyapp.com',
  'appspot.com',
  'azurewebsites.net',
  'blogspot.com',
  'cloudfront.net',
  'deno.dev',
  'duckdns.org',
  'firebaseapp.com',
  'fly.dev',
  'github.io',
  'gitlab.io',
  'herokuapp.com',
  'myshopify.com',
  'netlify.app',
  'ngrok.app',
  'ngrok.io',
  'onrender.com',
  'pages.dev',
  'railway.app',
  'render.com',
  'sslip.io',
  'surge.sh',
  'vercel.app',
  'web.app',
  'wordpress.com',
  'workers.dev',
])

/**
 * Whether a name of two labels or more is one that many share.
 *
 * @example
 * isPublicSuffix('co.uk') // true
 * isPublicSuffix('example.co.uk') // false
 */
export function isPublicSuffix(hostname: string): boolean {
  const [branch = '', top = '', ...more] = hostname.split('.')
  const isBranch = more.length === 0 && top.length === 2 && BRANCHES.has(branch)
  return isBranch || PROVIDERS.has(hostname)
}
