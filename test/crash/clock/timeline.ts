/** For so long, by the right clock, the daemons' clock was ahead by so much. */
export interface Segment extends Span {
  readonly offset: number
}

export interface Span {
  readonly from: number
  readonly until: number
}

/** What a clock that jumps showed, and when: `shown` is by that clock, all else by the right one. */
export interface Timeline {
  /** The moments at which it showed this: none, or several where it was set back. */
  momentsOf(shown: number): readonly number[]
  /** By how much it was ahead within a span. */
  offsets(span: Span): { readonly least: number; readonly most: number }
  /** The earliest and the latest that it showed within a span. */
  shown(span: Span): { readonly earliest: number; readonly latest: number }
  /**
   * Those parts of a span in which it stood at an instant or beyond, and was not behind what it had shown
   * earlier in the span.
   */
  beyond(shown: number, span: Span): readonly Span[]
}

/** @param segments in their order, without gaps; around a jump two may overlap, and either may be so */
export function timelineOf(segments: readonly Segment[]): Timeline {
  const within = ({ from, until }: Span): readonly Segment[] =>
    segments
      .map((one) => ({
        from: Math.max(from, one.from),
        until: Math.min(until, one.until),
        offset: one.offset,
      }))
      .filter((one) => one.from <= one.until)
  return {
    momentsOf: (shown) =>
      segments.flatMap(({ from, until, offset }) => {
        const moment = shown - offset
        return moment >= from && moment <= until ? [moment] : []
      }),
    offsets(span) {
      const offsets = within(span).map(({ offset }) => offset)
      return { least: Math.min(...offsets), most: Math.max(...offsets) }
    },
    shown(span) {
      const parts = within(span)
      return {
        earliest: Math.min(...parts.map(({ from, offset }) => from + offset)),
        latest: Math.max(...parts.map(({ until, offset }) => until + offset)),
      }
    },
    beyond(shown, span) {
      let reached = shown
      return within(span).flatMap(({ from, until, offset }) => {
        const caughtUp = Math.max(from, reached - offset)
        reached = Math.max(reached, until + offset)
        return caughtUp < until ? [{ from: caughtUp, until }] : []
      })
    },
  }
}

/** Of a clock that never jumps. */
export const RIGHT: Timeline = timelineOf([{ from: -Infinity, until: Infinity, offset: 0 }])
