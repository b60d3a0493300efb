import { COUNT, declareArguments, NAME, optional, optionsOf } from '../../lib/internal/arguments.ts'
import {
  type Asked,
  type BilledOperation,
  type Billing,
  type BillingTx,
  insufficientBalance,
  type Micros,
} from './contract.ts'

export interface MemoryWalletOptions {
  /** Price per unit of the operation's quantity. Default: 1,000 for an app or edit, 0 for a byte. */
  readonly prices?: Partial<Readonly<Record<BilledOperation, Micros>>>
  /** Default `USD`. */
  readonly currency?: string
}

export interface WalletState {
  /** Total balance, holds included. */
  readonly balance_micros: Micros
  readonly held_micros: Micros
}

export interface MemoryWallet extends Billing {
  /** Adds to an account's balance. */
  grant(accountId: string, micros: Micros): void
  wallet(accountId: string): WalletState
}

const PRICES: Readonly<Record<BilledOperation, Micros>> = {
  'apps.create': 1000,
  'edits.create': 1000,
  'files.upload': 0,
}

const PRICE = optional(COUNT)

const readWallet = declareArguments('createMemoryWallet', {
  options: optionsOf({
    prices: optionsOf({ 'apps.create': PRICE, 'edits.create': PRICE, 'files.upload': PRICE }),
    currency: optional(NAME),
  }),
})
const readGrant = declareArguments('grant', { account_id: NAME, micros: COUNT })

/**
 * A wallet in the memory of one process, for tests: the shortest billing that meets the contract. It
 * forgets everything with its process.
 *
 * @example
 * const billing = createMemoryWallet({ prices: { 'edits.create': 20_000 } })
 * billing.grant(account.id, 50_000)
 */
export function createMemoryWallet(
  ...args: readonly [options?: MemoryWalletOptions]
): MemoryWallet {
  const [options = {}] = readWallet(args) as typeof args
  const { currency = 'USD' } = options
  const prices = { ...PRICES, ...options.prices }
  const books = createBooks()
  const drafts = new WeakMap<BillingTx, Draft>()

  /** The changes of a unit of work are visible to itself alone until it commits. */
  function draftOf(tx: BillingTx): Draft {
    const known = drafts.get(tx)
    if (known !== undefined) return known
    const draft = books.draft()
    drafts.set(tx, draft)
    tx.afterCommit(() => draft.commit())
    return draft
  }

  function costOf({ operation, works }: Asked, seen: Pick<Books, 'work'>): Micros {
    return works
      .filter(({ operation_id }) => (seen.work(operation_id)?.state ?? 'released') === 'released')
      .reduce((sum, { quantity }) => sum + quantity * prices[operation], 0)
  }

  function availableTo(accountId: string, seen: Pick<Books, 'wallet'>): Micros {
    const { balance_micros, held_micros } = seen.wallet(accountId)
    return balance_micros - held_micros
  }

  return {
    mode: 'internal',
    grant(...args) {
      readGrant(args)
      const [accountId, micros] = args
      books.change(accountId, micros, 0)
    },
    wallet: (accountId) => books.wallet(accountId),
    estimate: async (asked) => ({
      required_micros: costOf(asked, books),
      available_micros: availableTo(asked.account_id, books),
      currency,
    }),
    async hold(tx, asked) {
      const { account_id, operation, works } = asked
      const draft = draftOf(tx)
      const required_micros = costOf(asked, draft)
      const available_micros = availableTo(account_id, draft)
      if (required_micros > available_micros) {
        const source = 'wallet'
        throw insufficientBalance({
          operation,
          required_micros,
          available_micros,
          currency,
          source,
        })
      }
      for (const { operation_id, quantity } of works) {
        if ((draft.work(operation_id)?.state ?? 'released') !== 'released') continue
        const held = quantity * prices[operation]
        draft.change(account_id, 0, held)
        draft.keep(operation_id, { state: 'held', account_id, held, price: prices[operation] })
      }
    },
    async capture(tx, operationId, quantity) {
      const draft = draftOf(tx)
      const work = draft.work(operationId)
      if (work?.state === 'captured') return work.taken
      if (work?.state !== 'held') return 0
      const { account_id, held, price } = work
      const taken = quantity === undefined ? held : Math.min(held, quantity * price)
      draft.change(account_id, -taken, -held)
      draft.keep(operationId, { state: 'captured', taken })
      return taken
    },
    async release(tx, operationId) {
      const draft = draftOf(tx)
      const work = draft.work(operationId)
      if (work?.state !== 'held') return
      draft.change(work.account_id, 0, -work.held)
      draft.keep(operationId, { state: 'released' })
    },
  }
}

interface Wallet {
  readonly balance_micros: Micros
  readonly held_micros: Micros
}

/** State of the payment for one piece of work. */
type WorkState =
  | {
      readonly state: 'held'
      readonly account_id: string
      readonly held: Micros
      /** Price per unit. */
      readonly price: Micros
    }
  | { readonly state: 'captured'; readonly taken: Micros }
  | { readonly state: 'released' }

interface Books {
  wallet(accountId: string): Wallet
  work(operationId: string): WorkState | undefined
  change(accountId: string, balance: Micros, held: Micros): void
  keep(operationId: string, work: WorkState): void
}

/** The books as one unit of work sees them. */
interface Draft extends Books {
  commit(): void
}

const EMPTY: Wallet = { balance_micros: 0, held_micros: 0 }

/** Books that are written to in drafts, which change nothing until they are committed. */
function createBooks(): Books & { draft(): Draft } {
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

/** Books on top of others: wallets as differences, so that concurrent changes below count. */
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
