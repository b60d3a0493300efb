import { big, orNull, text } from '../model/columns.ts'

/** How far a job is, also as its subject shows it. */
export const PROGRESS = {
  /** Null while it waits. */
  stage: orNull(text()),
  done: { ...big(), read: (value: unknown) => Number(value ?? 0) },
  total: orNull(big()),
}
