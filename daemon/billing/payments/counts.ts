/** What became of the events of the processor in this process, and what its sweeps found. */
export interface PaymentCounts {
  readonly events: { done: number; ignored: number; failed: number; retried: number }
  readonly swept: { found: number; failed: number }
}

export const createPaymentCounts = (): PaymentCounts => ({
  events: { done: 0, ignored: 0, failed: 0, retried: 0 },
  swept: { found: 0, failed: 0 },
})
