import { createHash } from 'node:crypto'

/** As many large pages as an attacker with some accounts may publish. */
export const HOSTILE_APPS = 11
export const PAGES_PER_APP = 22

const CHUNK = 64 * 1024
const CHUNKS = 144

/** Bytes of each page: 9 MiB. */
export const PAGE_SIZE = CHUNK * CHUNKS

const TAG = '<script src="/_p/obs.js"></script>'

/** What names a page; it stands for the digest of what is kept. */
export function digestOf(app: number, name: string): string {
  return createHash('sha256').update(`${app} ${name}`).digest('hex')
}

/** A page: `good` has a head, any other begins a comment that never ends. */
export function* chunksOf(app: number, name: string): Generator<Uint8Array> {
  const start = name === 'good' ? '<!doctype html><head>' : '<!doctype html><!-- '
  yield Buffer.from(`${start}${app} ${name} `.padEnd(CHUNK, 'x'))
  for (let at = 1; at < CHUNKS; at += 1) yield Buffer.alloc(CHUNK, 'x')
}

/** The digest of a good page as it is sent. */
export function sentDigest(app: number): string {
  const page = Buffer.concat([...chunksOf(app, 'good')]).toString('latin1')
  return createHash('sha256')
    .update(page.replace('<head>', `<head>${TAG}`))
    .digest('hex')
}
