import { big, id, int, json, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'
import type { HeldPrice } from './ledger.ts'
import type { METERS } from './observations.ts'

/** What was charged for a meter of an app and day. It is kept when the app is deleted, as the ledger is. */
export const HOSTING_CHARGES = defineModel('hosting_charges', {
  app_id: id(),
  /** Of UTC: `2026-01-31`. */
  day: id(),
  meter: id<(typeof METERS)[number]>(),
  account_id: id(),
  /** What was counted when it was charged last. */
  quantity: big(),
  charged: big(),
  /** Transactions: more than one where something was counted later. */
  parts: int(),
  price_version: text(),
  price: json<HeldPrice & { readonly meter: string }>(),
})
