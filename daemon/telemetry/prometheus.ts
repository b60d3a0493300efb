/**
 * Metrics in the text format of Prometheus, version 0.0.4.
 *
 * @module
 */

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export type Labels = Readonly<Record<string, string | number>>
type Type = 'counter' | 'gauge' | 'histogram'

/** One line: a value, with what is appended to the metric's name and the labels. */
export interface Sample {
  readonly value: number
  readonly labels?: Labels
  readonly suffix?: string
}

/** Values of a metric at the time of reading. */
export type Read = () => readonly Sample[] | Promise<readonly Sample[]>

/** A metric as dashboards and alerts may use it. */
export interface Declared {
  readonly type: Type
  readonly help: string
  /** Names of its labels, without `le`. */
  readonly labels: readonly string[]
}

interface Metric extends Declared {
  readonly read: Read
  /** Upper bounds of a histogram. */
  readonly bounds: readonly number[] | undefined
}

type Forward = (value: number, labels: Labels) => void

/** Metrics by their names, in the order in which they were added. */
export class Registry {
  readonly #metrics = new Map<string, Metric>()
  readonly #forwards = new Map<string, Forward>()

  /**
   * @param labels names of its labels
   * @param bounds of a histogram
   * @throws TypeError for a name that is taken
   */
  add(
    type: Type,
    name: string,
    help: string,
    read: Read,
    labels: readonly string[] = [],
    bounds?: readonly number[],
  ): void {
    if (this.#metrics.has(name)) throw new TypeError(`the metric ${name} is there already`)
    this.#metrics.set(name, { type, help, read, labels, bounds })
  }

  get all(): ReadonlyMap<string, Metric> {
    return this.#metrics
  }

  /** Passes on what a histogram observes from now on. */
  forward(name: string, to: Forward): void {
    this.#forwards.set(name, to)
  }

  /** Passes on one observation, where somebody asked for them. */
  observed(name: string, value: number, labels: Labels): void {
    this.#forwards.get(name)?.(value, labels)
  }

  async print(): Promise<string> {
    const texts = [...this.#metrics].map(async ([name, { type, help, read }]) => {
      const lines = (await read()).map((sample) => print(name, sample))
      return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
    })
    return (await Promise.all(texts)).join('\n')
  }
}

/** A number that only grows. */
export class Counter {
  #value = 0

  constructor(registry: Registry, name: string, help: string) {
    registry.add('counter', name, help, () => [{ value: this.#value }])
  }

  inc(by = 1): void {
    this.#value += by
  }
}

/** Counts observations by upper bounds, each of which includes those below it. */
class Buckets {
  readonly #bounds: readonly number[]
  /** One for each bound, and the last for what exceeds all. */
  readonly #counts: number[]
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    const found = this.#bounds.findIndex((bound) => value <= bound)
    const at = found === -1 ? this.#bounds.length : found
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += value
  }

  samples(labels: Labels): readonly Sample[] {
    let total = 0
    const buckets = this.#counts.map((count, at) => {
      total += count
      return {
        suffix: '_bucket',
        labels: { ...labels, le: this.#bounds[at] ?? '+Inf' },
        value: total,
      }
    })
    return [
      ...buckets,
      { suffix: '_sum', labels, value: this.#sum },
      { suffix: '_count', labels, value: total },
    ]
  }
}

/** Distribution of observations, such as durations. */
export class Histogram {
  readonly #one: HistogramByLabels<'one'>

  /** @param bounds ascending */
  constructor(registry: Registry, name: string, help: string, bounds: readonly number[]) {
    this.#one = new HistogramByLabels(registry, { name, help, labels: [] }, bounds, () => ({}))
    this.#one.prepare('one')
  }

  observe(value: number): void {
    this.#one.observe('one', value)
  }
}

/** A histogram for each value of a key that stands for labels. The caller bounds the number of keys. */
export class HistogramByLabels<Key> {
  readonly #series = new Map<Key, Series>()
  readonly #registry: Registry
  readonly #name: string
  readonly #bounds: readonly number[]
  readonly #labelsOf: (key: Key) => Labels

  /** @param bounds ascending */
  constructor(
    registry: Registry,
    { name, help, labels }: Pick<Declared, 'help' | 'labels'> & { readonly name: string },
    bounds: readonly number[],
    labelsOf: (key: Key) => Labels,
  ) {
    this.#registry = registry
    this.#name = name
    this.#bounds = bounds
    this.#labelsOf = labelsOf
    const read = (): readonly Sample[] =>
      [...this.#series.values()].flatMap((one) => one.buckets.samples(one.labels))
    registry.add('histogram', name, help, read, labels, bounds)
  }

  /** Shows a key before its first observation. */
  prepare(key: Key): Series {
    const made = { labels: this.#labelsOf(key), buckets: new Buckets(this.#bounds) }
    this.#series.set(key, made)
    return made
  }

  observe(key: Key, value: number): void {
    const { labels, buckets } = this.#series.get(key) ?? this.prepare(key)
    buckets.observe(value)
    this.#registry.observed(this.#name, value, labels)
  }
}

interface Series {
  readonly labels: Labels
  readonly buckets: Buckets
}

function print(name: string, { value, labels = {}, suffix = '' }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escape(String(text))}"`)
  return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${printNumber(value)}\n`
}

function printNumber(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '"': '\\"' }

function escape(text: string): string {
  return text.replaceAll(/[\\\n"]/g, (found) => ESCAPED[found] ?? found)
}
