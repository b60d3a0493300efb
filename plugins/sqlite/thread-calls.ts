import type { Value } from './node-sqlite.ts'

/** The connection that a thread opens. */
export interface Target {
  /** The address of the file, with what it may be opened for. */
  readonly url: string
  readonly readOnly: boolean
}

type Kinds = {
  all: { readonly sql: string; readonly bind: readonly unknown[] }
  exec: { readonly sql: string }
  /** The statement has the number of the call. */
  prepare: { readonly sql: string }
  run: { readonly statement: number; readonly bind: readonly unknown[] }
  finalize: { readonly statement: number }
  copy: { readonly file: string; readonly pages: number }
  close: object
}

export type Kind = keyof Kinds
export type CallOf<K extends Kind> = { readonly kind: K } & Kinds[K]
export type Call = { [K in Kind]: CallOf<K> }[Kind]

/** Rows as arrays, with the names of their columns once. */
export interface Rows {
  readonly names: readonly string[]
  readonly rows: readonly (readonly Value[])[]
}

export interface Failure {
  readonly message: string
  /** SQLite's number; undefined for any other error. */
  readonly errcode: number | undefined
}

/** An answer to a call, or a report on its progress. The number 0 is that of opening. */
export type Answer = { readonly id: number } & (
  | { readonly rows: Rows }
  | { readonly failed: Failure }
  | { readonly share: number }
)
