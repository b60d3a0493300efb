/** What the metrics show of the outbox; counts are of rows, by what became of them. */
export interface OutboxStatus {
  readonly counts: Record<'published' | 'duplicate' | 'refused', number>
  connected: boolean
}

export const createOutboxStatus = (): OutboxStatus => ({
  counts: { published: 0, duplicate: 0, refused: 0 },
  connected: false,
})
