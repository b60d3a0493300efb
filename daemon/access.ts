/** Who may call an operation. */
export type Access =
  /** A key that holds the scope, a signed-in user, or the operator on behalf of an account. */
  | {
      readonly scope: string
      readonly pinned: 'allowed' | 'refused'
      /** The path parameter that names a key: acting on itself, a key needs no scope. */
      readonly self?: string
      /** The operator may also act for no account: for the whole service. */
      readonly service?: boolean
    }
  /** Any live key. */
  | 'key'
  | 'user'
  /** A signed-in user, or the operator on behalf of an account: never a key. */
  | 'owner'
  | 'operator'
  | 'public'
