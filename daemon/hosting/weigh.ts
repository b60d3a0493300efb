import type { Manifest } from '../../plugins/deploy/contract.ts'
import type { Site } from './site.ts'

/** What a site takes beside its files, with what is known of it. */
const BASE = 1000
/** A file with its digest and its place in the map, all but its path, and each of its forms. */
const FILE = 220
const FORM = 150

/**
 * How many bytes of memory a site takes, about: by the heap before and after, of 10,000 files one takes 215
 * and its path, and each form 150. That is 1.5 to 1.9 times what the manifest takes as text.
 */
export function weigh({ manifest, earlier }: Pick<Site, 'manifest' | 'earlier'>): number {
  return earlier.reduce((sum, one) => sum + weighFiles(one), BASE + weighFiles(manifest))
}

function weighFiles({ files }: Pick<Manifest, 'files'>): number {
  let bytes = 0
  for (const [path, { encoded }] of files) {
    // Of a path that is not Latin each character takes two.
    bytes += FILE + 2 * path.length + FORM * Object.keys(encoded).length
  }
  return bytes
}
