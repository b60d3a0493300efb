import type { Setting } from './setting.ts'
import { SETTINGS } from './settings.ts'

/** `keyhook serve --dev` or `--test`: on loopback only, because webhooks may reach this machine. */
export type ServeMode = 'dev' | 'test'

/** Where the value of a setting comes from. */
export type SettingSource = 'variable' | 'file' | ServeMode | 'default'

/** A setting as it is in force. */
export interface SettingInForce {
  readonly name: string
  readonly source: SettingSource
  /** The default as documentation shows it; null for a secret that is set. */
  readonly value: string | null
  readonly secret: boolean
  readonly doc: string
}

/**
 * Every setting with its value and where that comes from; never a secret's value.
 *
 * @param env the environment of the process, without what a mode adds
 * @param texts values that were given or added, by name
 * @param mode what added the others
 */
export function settingsInForce(
  env: Readonly<NodeJS.ProcessEnv>,
  texts: ReadonlyMap<string, string | undefined>,
  mode: ServeMode | undefined,
): readonly SettingInForce[] {
  const settings: readonly Setting<unknown>[] = Object.values(SETTINGS)
  return settings.map(({ env: name, shown, doc, secret = false }) => {
    const text = texts.get(name)
    return {
      name,
      source: text === undefined ? 'default' : (given(name, env) ?? mode ?? 'default'),
      value: print(text, shown, secret),
      secret,
      doc,
    }
  })
}

function given(name: string, env: Readonly<NodeJS.ProcessEnv>): 'variable' | 'file' | undefined {
  if ((env[`${name}_FILE`] ?? '') !== '') return 'file'
  return (env[name] ?? '') === '' ? undefined : 'variable'
}

function print(text: string | undefined, shown: string, secret: boolean): string | null {
  if (text === undefined) return shown
  return secret ? null : text
}
