import type { Micros } from '../contract.ts'

interface Wallet {
  readonly balance_micros: Micros
  readonly held_micros: Micros
}

/** What became of the money for one piece of work. */
export type WorkState =
  | {
      readonly state: 'held'
      readonly account_id: string
      readonly held: Micros
      /** Of one of what is counted. */
      readonly price: Micros
    }
  | { readonly state: 'captured'; readonly taken: Micros }
  | { readonly state: 'released' }

export interface Books {
  wallet(accountId: string): Wallet
  work(operationId: string): WorkState | undefined
  change(accountId: string, balance: Micros, held: Micros): void
  keep(operationId: string, work: WorkState): void
}

/** What one unit of work sees and does. */
export interface Draft extends Books {
  commit(): void
}

const EMPTY: Wallet = { balance_micros: 0, held_micros: 0 }

/** Books that may be written to in drafts, which change nothing until they are committed. */
export function createBooks(): Books & { draft(): Draft } {
  const books = openBooks({ wallet: () => EMPTY, work: () => undefined })
  return {
    ...books,
    draft() {
      const draft = openBooks(books)
      return {
        ...draft,
        commit() {
          for (const [id, { balance_micros, held_micros }] of draft.changes) {
            books.change(id, balance_micros, held_micros)
          }
          for (const [id, work] of draft.kept) books.keep(id, work)
        },
      }
    },
  }
}

/** Books above others: of wallets the changes alone, so that what changes below them meanwhile counts. */
function openBooks(below: Pick<Books, 'wallet' | 'work'>) {
  const changes = new Map<string, Wallet>()
  const kept = new Map<string, WorkState>()
  const sum = (one: Wallet, other: Wallet): Wallet => ({
    balance_micros: one.balance_micros + other.balance_micros,
    held_micros: one.held_micros + other.held_micros,
  })
  const books: Books = {
    wallet: (id) => sum(below.wallet(id), changes.get(id) ?? EMPTY),
    work: (id) => kept.get(id) ?? below.work(id),
    change(id, balance_micros, held_micros) {
      changes.set(id, sum(changes.get(id) ?? EMPTY, { balance_micros, held_micros }))
    },
    keep: (id, work) => void kept.set(id, work),
  }
  return { ...books, changes, kept }
}
