import { readFile, rename, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import type { LoadedFamily } from './load-families.ts'
import type { LoadedPlugin } from './load.ts'
import type { NamedPlugin } from './named.ts'

const option = z.object({
  env: z.string(),
  doc: z.string(),
  required: z.boolean(),
  secret: z.boolean(),
  default: z.string().nullable(),
})

const plugin = z.object({
  named: z.string(),
  name: z.string(),
  network: z.enum(['none', 'listed', 'public']),
  options: z.array(option),
})

const family = z.object({ named: z.string(), name: z.string() })

const record = z.object({ plugins: z.array(plugin), families: z.array(family).default([]) })

export type Recorded = z.infer<typeof record>

/** What a plugin declared when it was last loaded; never a value of an option. */
export type RecordedPlugin = z.infer<typeof plugin>

/** Writes what the loaded plugins declare: `doctor` shows it, and loads none itself. */
export async function recordPlugins(
  path: string,
  named: readonly NamedPlugin[],
  { loaded, families }: Loaded,
): Promise<void> {
  const known = await recordedPlugins(path)
  if (named.length + known.plugins.length + known.families.length === 0) return
  const nameOf = (label: string): string => named.find((one) => one.label === label)?.named ?? ''
  const text = `${JSON.stringify(
    {
      plugins: loaded.map(({ label, plugin }) => describe(nameOf(label), plugin)),
      families: families.map(({ label, family: { name } }) => ({ named: nameOf(label), name })),
    },
    null,
    2,
  )}\n`
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

interface Loaded {
  readonly loaded: readonly LoadedPlugin[]
  readonly families: readonly LoadedFamily[]
}

/** Empty before the first start with a plugin. */
export async function recordedPlugins(path: string): Promise<Recorded> {
  try {
    return record.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    return { plugins: [], families: [] }
  }
}

function describe(
  named: string,
  { name, options = {}, network }: LoadedPlugin['plugin'],
): RecordedPlugin {
  return {
    named,
    name,
    network: network?.policy ?? 'none',
    options: Object.values(options).map(({ env, doc, required, secret, ...option }) => ({
      env,
      doc,
      required: required ?? false,
      secret: secret ?? false,
      default: option.default ?? null,
    })),
  }
}
