/**
 * Metrics in the text format of Prometheus, version 0.0.4.
 *
 * @module
 */

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type Labels = Readonly<Record<string, string | number>>
type Type = 'counter' | 'gauge' | 'histogram'

/** One line: a value, with what is appended to the metric's name and the labels. */
export interface Sample {
  readonly value: number
  readonly labels?: Labels
  readonly suffix?: string
}

/** Values of a metric at the time of reading. */
export type Read = () => readonly Sample[] | Promise<readonly Sample[]>

/** Metrics by their names, in the order in which they were added. */
export class Registry {
  readonly #metrics: (() => Promise<string>)[] = []
  readonly #names = new Set<string>()

  /** @throws TypeError for a name that is taken */
  add(type: Type, name: string, help: string, read: Read): void {
    if (this.#names.has(name)) throw new TypeError(`the metric ${name} is there already`)
    this.#names.add(name)
    const head = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
    this.#metrics.push(async () => {
      const lines = (await read()).map((sample) => print(name, sample))
      return `${head}${lines.join('')}`
    })
  }

  async print(): Promise<string> {
    return (await Promise.all(this.#metrics.map((read) => read()))).join('\n')
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
export class Histogram {
  readonly #bounds: readonly number[]
  /** One for each bound, and the last for what exceeds all. */
  readonly #counts: number[]
  #sum = 0

  /** @param bounds ascending */
  constructor(registry: Registry, name: string, help: string, bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
    registry.add('histogram', name, help, () => this.#samples())
  }

  observe(value: number): void {
    const found = this.#bounds.findIndex((bound) => value <= bound)
    const at = found === -1 ? this.#bounds.length : found
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += value
  }

  #samples(): readonly Sample[] {
    let total = 0
    const buckets = this.#counts.map((count, at) => {
      total += count
      return { suffix: '_bucket', labels: { le: this.#bounds[at] ?? '+Inf' }, value: total }
    })
    return [...buckets, { suffix: '_sum', value: this.#sum }, { suffix: '_count', value: total }]
  }
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
