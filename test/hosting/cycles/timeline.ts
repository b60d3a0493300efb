/** What an address led to from some instant on: a release, or nothing. */
export interface Turn {
  /** Null while the app is offline. */
  content: number | null
  /** It led there no sooner than it was asked for, and surely once that was seen. */
  readonly asked: number
  seen: number
}

/** What an address served at one time. */
export interface State {
  readonly content: number | null
  /** Releases that were live before and whose fingerprinted files are served still. */
  readonly earlier: readonly number[]
}

/** What was live when, as whoever drives it saw it; instants by the steady clock. */
export interface Timeline {
  /** Begins what is asked for now; until it is ended or dropped nobody knows whether it is live. */
  begin(content: number | null, asked: number): Turn
  /** It was seen to be live. */
  end(turn: Turn, seen: number): void
  /** It never was. */
  drop(turn: Turn): void
  /** A visitor was answered with this release: whoever asks from then on must not be given an older one. */
  sight(content: number, asked: number, answered: number): void
  /** Calls `look` with every state that may have been at an instant of these, once all of them are known. */
  whenKnown(asked: number, answered: number, look: (states: readonly State[]) => void): void
  /** All turns that were. */
  readonly turns: readonly Turn[]
}

/** Of the last so many deployments that were live, those before are taken, at most so many releases. */
const LOOKED_AT = 20
const EARLIER = 5

export function createTimeline(): Timeline {
  const turns: Turn[] = [{ content: null, asked: -Infinity, seen: -Infinity }]
  /** Of each turn. */
  const known: State[] = [{ content: null, earlier: [] }]
  const waiting: { readonly answered: number; readonly look: () => void }[] = []
  let open: Turn | undefined

  /** Once the last turn is this one. */
  function stateOf({ content }: Turn): State {
    if (content === null) return { content, earlier: [] }
    const lived = turns.slice(-2 * LOOKED_AT).flatMap((one) => one.content ?? [])
    const latest = lived.slice(-LOOKED_AT).reverse()
    const earlier = [...new Set(latest)].filter((one) => one !== content)
    return { content, earlier: earlier.slice(0, EARLIER) }
  }

  /** Which turns may have been, as the first and the one after the last. */
  function turnsBetween(asked: number, answered: number): readonly [first: number, end: number] {
    let end = turns.length
    // From the end, since what is asked about was answered lately.
    while (end > 1 && (turns[end - 1]?.asked ?? 0) > answered) end--
    let first = end - 1
    while (first > 0 && (turns[first]?.seen ?? 0) >= asked) first--
    return [first, end]
  }

  function flush(): void {
    const until = open?.asked ?? Infinity
    let left = 0
    // In the order in which they were answered.
    for (const one of waiting) {
      if (one.answered < until) one.look()
      else waiting[left++] = one
    }
    waiting.length = left
  }

  return {
    turns,
    begin(content, asked) {
      open = { content, asked, seen: Infinity }
      return open
    },
    end(turn, seen) {
      turn.seen = seen
      turns.push(turn)
      known.push(stateOf(turn))
      open = undefined
      flush()
    },
    drop() {
      open = undefined
      flush()
    },
    sight(content, asked, answered) {
      const [first, end] = turnsBetween(asked, answered)
      const [turn, ...others] = turns.slice(first, end).filter((one) => one.content === content)
      if (turn !== undefined && others.length === 0) turn.seen = Math.min(turn.seen, answered)
    },
    whenKnown(asked, answered, look) {
      const states = (): readonly State[] => known.slice(...turnsBetween(asked, answered))
      waiting.push({ answered, look: () => look(states()) })
      if (open === undefined) flush()
    },
  }
}
