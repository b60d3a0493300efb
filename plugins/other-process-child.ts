/** What `withOtherProcess` starts: opens what the harness names, and runs one part of a case on it. */
import type { OtherProcess, Part } from './other-process.ts'

interface Order extends OtherProcess {
  readonly parts: string
  readonly name: string
  readonly input: unknown
}

const { module, argument, parts, name, input } = JSON.parse(process.argv[2] ?? '') as Order

function say(value: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(value, (error: Error | null) => {
      if (error === null) resolve()
      else reject(error)
    })
  })
}

const { open } = (await import(module)) as { open(argument: unknown): Promise<unknown> }
const { PARTS } = (await import(parts)) as {
  PARTS: Readonly<Record<string, Part<unknown> | undefined>>
}
await PARTS[name]?.(await open(argument), input as never, say)
