import type { Billing } from './contract.ts'

/** Billing without metering: everything is allowed. */
export function createNoBilling(): Billing {
  return {
    mode: 'none',
    estimate: async () => ({ required_micros: 0, available_micros: null, currency: null }),
    hold: async () => undefined,
    capture: async () => 0,
    release: async () => undefined,
  }
}
