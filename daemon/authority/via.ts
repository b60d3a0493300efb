/** Protocol and client of a call. */
export interface Via {
  readonly protocol: 'rest' | 'mcp' | 'a2a'
  /** Its name for itself: untrusted, printable ASCII of at most 100 characters; null without one. */
  readonly client: string | null
}
