import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { lstat, open, readFile, readdir } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { z } from 'zod'
import { ConfigError } from '../config/config.ts'

export const MANIFEST = 'manifest.json'
/** Digest of the manifest, in the form of `sha256sum`. */
export const MANIFEST_DIGEST = 'manifest.json.sha256'
export const DATABASE = 'keyhook.db'
/** What `pg_dump` wrote of PostgreSQL, with the blobs in it. */
export const DUMP = 'keyhook.pgdump'
/** Keys that are valid in the dump, with which an older backup is compared. */
export const VALID_KEYS = 'valid-keys.json'
export const MASTER_KEY = 'master-key.encrypted'
export const BLOBS = 'blobs'

const digest = z.string().regex(/^[0-9a-f]{64}$/)

const manifestSchema = z.strictObject({
  format: z.literal(1),
  /** Also the name of its folder. */
  id: z.string().regex(/^keyhook-\d{8}T\d{6}(\d{3})?Z-[0-9a-f]{8}$/),
  /** When the copy of the database began: it holds everything that was acknowledged before. */
  created_at: z.iso.datetime(),
  version: z.string(),
  database: z.enum(['sqlite', 'postgres']).default('sqlite'),
  installation: z.string(),
  schema: z.string(),
  position: z.string(),
  counts: z.record(z.string(), z.int()),
  /** Ids of the master keys without which its secrets cannot be read. */
  master_keys: z.array(z.string()),
  has_master_key: z.boolean(),
  /** Digests of blobs by app; null when a plugin stores them. */
  apps: z.record(z.string(), z.array(digest)).nullable(),
  files: z.array(z.strictObject({ path: z.string(), size: z.int(), sha256: digest })),
})

export type Manifest = z.infer<typeof manifestSchema>
export type BackupFile = Manifest['files'][number]

/** Path of a blob in its backup, with `/` on every system. */
export function blobPath(sha256: string): string {
  return `${BLOBS}/${sha256.slice(0, 2)}/${sha256}`
}

export function printManifest(manifest: Manifest): {
  readonly text: string
  readonly digest: string
} {
  const text = `${JSON.stringify(manifest, null, 1)}\n`
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { text, digest: `${sha256}  ${MANIFEST}\n` }
}

/**
 * Reads the manifest of a finished backup.
 *
 * @throws ConfigError that says what is wrong with it
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const read = async (name: string): Promise<string> => {
    try {
      return await readFile(join(folder, name), 'utf8')
    } catch (cause) {
      throw new ConfigError(
        `${folder} is not a finished backup: ${name} cannot be read. Name a folder that \`keyhook backup create\` made`,
        { cause },
      )
    }
  }
  const text = await read(MANIFEST)
  const expected = await read(MANIFEST_DIGEST)
  const sha256 = createHash('sha256').update(text).digest('hex')
  if (expected !== `${sha256}  ${MANIFEST}\n`) throw damaged(folder, `${MANIFEST} was changed`)
  const parsed = manifestSchema.safeParse(JSON.parse(text))
  if (!parsed.success) {
    throw new ConfigError(`${folder} was made by another version of Keyhook, which can restore it`)
  }
  return parsed.data
}

/** A backup that must not be restored. */
export function damaged(folder: string, why: string): ConfigError {
  return new ConfigError(`the backup ${folder} is damaged: ${why}. Use another one`)
}

/**
 * Compares every file with its digest, and refuses files that the manifest does not name.
 *
 * @throws ConfigError naming the first file that differs
 */
export async function requireFiles(
  folder: string,
  { files }: Manifest,
  progress: (share: number) => void,
): Promise<void> {
  const named = new Map(files.map((file) => [file.path, file]))
  for (const path of await pathsIn(folder)) {
    if (path === MANIFEST || path === MANIFEST_DIGEST) continue
    if (!named.has(path)) throw damaged(folder, `${path} does not belong to it`)
  }
  const total = files.reduce((sum, { size }) => sum + size, 0)
  let done = 0
  for (const { path, size, sha256 } of files) {
    const found = await lstat(join(folder, path)).catch(() => undefined)
    if (found?.isFile() !== true) throw damaged(folder, `${path} is missing`)
    if (found.size !== size) {
      throw damaged(folder, `${path} has ${found.size} bytes instead of ${size}`)
    }
    if ((await digestOf(join(folder, path))) !== sha256) {
      throw damaged(folder, `${path} does not match its digest`)
    }
    done += size
    progress(total === 0 ? 1 : done / total)
  }
}

/** The file of a backup as its manifest lists it. */
export async function describeFile(folder: string, path: string): Promise<BackupFile> {
  const file = join(folder, path)
  return { path, size: (await lstat(file)).size, sha256: await digestOf(file) }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

async function pathsIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
}

/** Makes a file, or the names in a folder, durable. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The finished backups in a folder, newest first; others and unfinished ones are left out. */
export async function listBackups(
  folder: string,
): Promise<readonly { readonly folder: string; readonly manifest: Manifest }[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new ConfigError(`${folder} cannot be read. Name the folder given to --to`, { cause })
  })
  const found = await Promise.all(
    names
      .filter((name) => name.startsWith('keyhook-'))
      .map(async (name) => {
        const path = join(folder, name)
        const manifest = await readManifest(path).catch(() => undefined)
        return manifest === undefined ? [] : [{ folder: path, manifest }]
      }),
  )
  return found.flat().sort((a, b) => (basename(a.folder) < basename(b.folder) ? 1 : -1))
}
