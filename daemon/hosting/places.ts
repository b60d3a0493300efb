/** Places that are taken for a while: so many at once for each of those who take them. */
export interface Places {
  /** Answers what gives the place back, to be called once; undefined when there is none left. */
  take(whose: string): (() => void) | undefined
}

export interface PlaceLimits {
  readonly each: number
  /** Of all together; default none. */
  readonly inAll?: number
}

export function createPlaces({ each, inAll = Infinity }: PlaceLimits): Places {
  const counts = new Map<string, number>()
  let taken = 0
  return {
    take(whose) {
      const own = counts.get(whose) ?? 0
      if (own >= each || taken >= inAll) return undefined
      counts.set(whose, own + 1)
      taken += 1
      return () => {
        taken -= 1
        const left = (counts.get(whose) ?? 1) - 1
        if (left === 0) counts.delete(whose)
        else counts.set(whose, left)
      }
    },
  }
}
