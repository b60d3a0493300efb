import type { Setting } from './setting.ts'
import { SETTINGS } from './settings.ts'

/** Where the value of a setting comes from. */
export type SettingSource = 'variable' | 'file' | 'dev' | 'default'

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
 * @param env the environment of the process, without what `--dev` adds
 * @param texts values that were given or added, by name
 */
export function settingsInForce(
  env: Readonly<NodeJS.ProcessEnv>,
  texts: ReadonlyMap<string, string | undefined>,
): readonly SettingInForce[] {
  const settings: readonly Setting<unknown>[] = Object.values(SETTINGS)
  return settings.map(({ env: name, shown, doc, secret = false }) => {
    const text = texts.get(name)
    return {
      name,
      source: sourceOf(name, text, env),
      value: print(text, shown, secret),
      secret,
      doc,
    }
  })
}

function sourceOf(
  name: string,
  text: string | undefined,
  env: Readonly<NodeJS.ProcessEnv>,
): SettingSource {
  if (text === undefined) return 'default'
  if ((env[`${name}_FILE`] ?? '') !== '') return 'file'
  return (env[name] ?? '') === '' ? 'dev' : 'variable'
}

function print(text: string | undefined, shown: string, secret: boolean): string | null {
  if (text === undefined) return shown
  return secret ? null : text
}
