import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FileProcessor } from '../../plugins/files/contract.ts'
import { FILE_PROCESSORS } from '../../plugins/registry.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/config.ts'
import { JOB_KINDS } from '../../plugins/platform/contract/jobs.ts'

/**
 * Opens the file processor that the operator configured: a built-in one, or one of a module.
 *
 * @throws ConfigError for a module that cannot be loaded or creates none
 */
export async function openFileProcessor({
  filesPlugin: name,
}: Pick<Config, 'filesPlugin'>): Promise<FileProcessor> {
  if (Object.hasOwn(FILE_PROCESSORS, name)) {
    return FILE_PROCESSORS[name as keyof typeof FILE_PROCESSORS]({
      children: JOB_KINDS.file.concurrency,
    })
  }
  const { createFileProcessor } = await load(name)
  if (typeof createFileProcessor !== 'function') {
    throw new ConfigError(`KEYHOOK_FILES_PLUGIN is ${name}, which exports no createFileProcessor`)
  }
  const made: unknown = await createFileProcessor()
  if (isProcessor(made)) return made
  throw new ConfigError(
    `KEYHOOK_FILES_PLUGIN is ${name}, whose createFileProcessor makes no file processor`,
  )
}

interface Loaded {
  readonly createFileProcessor?: unknown
}

/** Names that begin like paths are paths; all others are packages. */
async function load(name: string): Promise<Loaded> {
  const isPath = isAbsolute(name) || /^\.{1,2}[/\\]/.test(name)
  try {
    return (await import(isPath ? pathToFileURL(resolve(name)).href : name)) as Loaded
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ConfigError(`KEYHOOK_FILES_PLUGIN is ${name}, which cannot be loaded: ${reason}`, {
      cause,
    })
  }
}

function isProcessor(made: unknown): made is FileProcessor {
  const { sniff, process, close } = (made ?? {}) as Partial<Record<keyof FileProcessor, unknown>>
  return [sniff, process, close].every((part) => typeof part === 'function')
}
