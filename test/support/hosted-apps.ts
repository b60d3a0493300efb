import { createHash } from 'node:crypto'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { AppBytes, Kept } from '../../plugins/apps/contract.ts'
import type { Encoding, Manifest, ServedFile } from '../../plugins/deploy/manifest.ts'

/** A file of an app that tests serve. */
export interface HostedFile {
  readonly body: Buffer
  readonly type: string
  readonly immutable: boolean
  readonly encoded: Readonly<Partial<Record<Encoding, Buffer>>>
}

export type HostedTree = Readonly<Record<string, HostedFile>>

const HTML = 'text/html; charset=utf-8'

export function plain(body: string | Buffer, type = 'text/plain; charset=utf-8'): HostedFile {
  return { body: Buffer.from(body), type, immutable: false, encoded: {} }
}

export function html(title: string): HostedFile {
  return packed(plain(`<!doctype html><title>${title}</title><p>${title} `.padEnd(200, '.'), HTML))
}

export function asset(text: string): HostedFile {
  const file = plain(`console.log('${text}') //`.padEnd(200, '.'), 'text/javascript; charset=utf-8')
  return { ...packed(file), immutable: true }
}

/** With its smaller forms beside it. */
function packed(file: HostedFile): HostedFile {
  return { ...file, encoded: { br: brotliCompressSync(file.body), gzip: gzipSync(file.body) } }
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function keptOf(bytes: Buffer): Kept {
  return { sha256: digestOf(bytes), size: bytes.length }
}

export function manifestOf(tree: HostedTree, spa = false): Manifest {
  const files = Object.entries(tree).map(([path, file]): [string, ServedFile] => {
    const { body, type, immutable } = file
    const encoded = Object.entries(file.encoded).map(([name, bytes]) => [name, keptOf(bytes)])
    return [
      path,
      {
        path,
        type,
        immutable,
        ...keptOf(body),
        encoded: Object.fromEntries(encoded) as ServedFile['encoded'],
      },
    ]
  })
  return { files: new Map(files), spa }
}

/** Keeps the bytes of a tree, in all of their forms. */
export async function keepTree(bytes: AppBytes, appId: string, tree: HostedTree): Promise<void> {
  for (const { body, encoded } of Object.values(tree)) {
    for (const form of [body, ...Object.values(encoded)]) await bytes.put(appId, form)
  }
}

/** The tag that a file, or one of its forms, is answered with. */
export function etagOf({ body, encoded }: HostedFile, encoding?: Encoding): string {
  return `"${digestOf((encoding === undefined ? undefined : encoded[encoding]) ?? body)}"`
}
