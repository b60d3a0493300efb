import { ANY, TEXT, declareArguments, optional, optionsOf } from '../../lib/internal/arguments.ts'

/** One setting: its type, default, environment variable and documentation in one place. */
export interface Setting<T> {
  readonly env: string
  /** Description for docs/config.md. */
  readonly doc: string
  /** The default as documentation shows it. */
  readonly shown: string
  readonly fallback: T
  /** Its value is never printed. */
  readonly secret?: boolean
  /**
   * @throws Error that says what the value must be
   */
  parse(text: string): T
}

const readError = declareArguments('ConfigError', {
  message: TEXT,
  options: optionsOf({ cause: optional(ANY) }),
})

/** A setting that cannot be used, with its full name. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(...args: readonly [message: string, options?: ErrorOptions]) {
    readError(args)
    super(...args)
  }
}

export function textSetting(
  declared: Omit<Setting<string>, 'parse'> & { parse?: (text: string) => string },
): Setting<string> {
  return { parse: (text) => text, ...declared }
}

/** An optional value. */
export function optionalSetting<T>(
  declared: Omit<Setting<T | undefined>, 'fallback' | 'parse'> & { parse: (text: string) => T },
): Setting<T | undefined> {
  return { ...declared, fallback: undefined }
}

export function integerSetting(
  declared: Omit<Setting<number>, 'parse' | 'shown'> & {
    readonly min: number
    readonly max: number
  },
): Setting<number> {
  const { min, max } = declared
  return {
    ...declared,
    shown: String(declared.fallback),
    parse(text) {
      const value = Number(text)
      if (/^\d+$/.test(text) && value >= min && value <= max) return value
      throw new Error(`must be a whole number from ${min} to ${max}`)
    },
  }
}

export function choiceSetting<const T extends string>(
  declared: Omit<Setting<T>, 'parse' | 'shown'> & { readonly choices: readonly T[] },
): Setting<T> {
  return {
    ...declared,
    shown: declared.fallback,
    parse(text) {
      const choice = declared.choices.find((one) => one === text)
      if (choice !== undefined) return choice
      throw new Error(`must be one of ${declared.choices.join(', ')}`)
    },
  }
}
