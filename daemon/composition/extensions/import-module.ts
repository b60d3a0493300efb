import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import { importFile } from '../../../plugins/executable.ts'
import { ConfigError } from '../../config/config.ts'
import { offerOwnPackage } from './own-package.ts'

/**
 * Loads a module that the operator named: by an absolute path, or as a package that the service finds. Nothing
 * is loaded from the working directory. One that imports `keyhook`, and finds none, gets the service's.
 *
 * @param label how it was named, such as `KEYHOOK_APPS_PLUGIN is s3`
 * @throws ConfigError of one line
 */
export async function importModule(
  label: string,
  named: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (/^\.{1,2}[/\\]/.test(named)) {
    throw new ConfigError(
      `${label}, which is relative to the working directory. Give an absolute path or a package`,
    )
  }
  try {
    // A package may be a link to a folder, where none is found either.
    await offerOwnPackage()
    if (!isAbsolute(named)) return (await import(named)) as Readonly<Record<string, unknown>>
    return await importFile(pathToFileURL(named).href)
  } catch (cause) {
    throw new ConfigError(`${label}, which cannot be loaded: ${reasonOf(cause)}`, { cause })
  }
}

/** The first line: an operator reads it in one line of the start, with what only the log of a request would show. */
export function reasonOf(cause: unknown): string {
  const { internal } = (cause ?? {}) as { readonly internal?: unknown }
  const message = cause instanceof Error ? cause.message : String(cause)
  const text = typeof internal === 'string' ? `${message} ${internal}` : message
  return text.split('\n')[0] ?? ''
}
