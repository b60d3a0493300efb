interface Message {
  readonly id: number
  readonly name: string
  readonly input: unknown
}

/** Answers the calls of the process that forked this one, until it hangs up. */
export function serve(calls: Readonly<Record<string, (input: never) => unknown>>): void {
  process.on('message', ({ id, name, input }: Message) => {
    Promise.resolve()
      .then(() => calls[name]?.(input as never))
      .then(
        (value) => process.send?.({ id, value }),
        (cause: unknown) => process.send?.({ id, error: explain(cause) }),
      )
  })
  process.once('disconnect', () => process.exit(0))
}

function explain(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause === undefined ? cause.message : `${cause.message}: ${explain(cause.cause)}`
}
