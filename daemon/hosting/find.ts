import type { Manifest, ServedFile } from '../../plugins/deploy/contract.ts'
import type { Site } from './site.ts'

export interface Found {
  readonly file: ServedFile
  readonly status: 200 | 404
  /** Whether the response depends on `Accept`. */
  readonly byAccept: boolean
}

/**
 * Finds the response of a site for a key: the file of that name, `<key>.html`, `index.html` of the folder,
 * a file of an earlier release for open pages, the page of a client-side router, or the site's own
 * 404.html. `folder` for a folder without its slash; undefined when none of these exists.
 *
 * @param accept the header: requests of scripts must not get the page of a client-side router
 */
export function findFile(
  { manifest, earlier }: Pick<Site, 'manifest' | 'earlier'>,
  key: string,
  accept: string | undefined,
): Found | 'folder' | undefined {
  const { files } = manifest
  const named = files.get(key) ?? pageOf(manifest, key)
  if (named !== undefined) return { file: named, status: 200, byAccept: false }
  if (!key.endsWith('/') && files.has(`${key}/index.html`)) return 'folder'
  const old = earlier.map((one) => one.files.get(key)).find((file) => file?.immutable === true)
  if (old !== undefined) return { file: old, status: 200, byAccept: false }
  const byAccept = manifest.spa && !hasExtension(key)
  const routed = byAccept && acceptsPages(accept) ? files.get('index.html') : undefined
  if (routed !== undefined) return { file: routed, status: 200, byAccept }
  const missing = files.get('404.html')
  return missing === undefined ? undefined : { file: missing, status: 404, byAccept }
}

function pageOf({ files }: Manifest, key: string): ServedFile | undefined {
  return key === '' || key.endsWith('/') ? files.get(`${key}index.html`) : files.get(`${key}.html`)
}

function hasExtension(key: string): boolean {
  return key.includes('.', key.lastIndexOf('/') + 1)
}

/** By name, as browsers request pages: scripts accept anything. */
function acceptsPages(accept: string | undefined): boolean {
  const ranges = accept?.split(',') ?? []
  return ranges.some(
    (range) => /^\s*text\/html\s*(?:;|$)/i.test(range) && !/;\s*q=0(?:\.0*)?\s*$/i.test(range),
  )
}
