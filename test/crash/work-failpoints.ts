import type { Failpoint, Statement } from './failpoint-table.ts'

/** A moment of an edit, a file or a deployment at which the daemon that carries it out may be made to die. */
export interface WorkFailpoint extends Pick<Failpoint, 'name' | 'when'> {
  readonly at: Statement
  /** Which time that it is reached; default the first. */
  readonly nth?: number
}

export const commitOf = (within: RegExp): Statement => ({ sql: /^COMMIT$/, within })

/** Before a commit, and once it is there but nobody heard of it. */
export function beside(name: string, within: RegExp): readonly WorkFailpoint[] {
  const at = commitOf(within)
  return [
    { name: `${name}.before_commit`, at, when: 'before' },
    { name: `${name}.after_commit`, at, when: 'after' },
  ]
}

/** In the middle of it, too. */
export function around(name: string, within: RegExp): readonly WorkFailpoint[] {
  const at = commitOf(within)
  return [...beside(name, within), { name: `${name}.in_commit`, at, when: 'during' }]
}

/** By what is asked of the daemon. */
export const WORK_FAILPOINTS = {
  prompt: [
    ...beside('edit.queue', /^INSERT INTO keyhook_edits /),
    ...beside('edit.claim', /^UPDATE keyhook_edits SET status = 'running'/),
    {
      name: 'edit.reading.base_noted',
      at: commitOf(/^UPDATE keyhook_edits SET base_revision/),
      when: 'after',
    },
    {
      name: 'edit.reading.passages',
      at: { sql: /^SELECT (min\(first\)|COALESCE\(sum\(chunks\), 0\)) .* keyhook_files / },
      when: 'before',
    },
    {
      name: 'edit.applying.told',
      at: { sql: /^INSERT INTO keyhook_job_lines/, bind: /Applying the changes/ },
      when: 'after',
    },
    {
      name: 'edit.applying.bytes_kept',
      at: { sql: /^UPDATE keyhook_apps SET revision/ },
      when: 'before',
    },
    { name: 'edit.end.mid', at: { sql: /^INSERT INTO keyhook_revisions/ }, when: 'after' },
    ...around('edit.end', /^INSERT INTO keyhook_revisions/),
  ],
  cancel: beside('edit.cancel', /^UPDATE keyhook_jobs SET cancel_at/),
  operations: [
    {
      name: 'edit.operations.bytes_kept',
      at: { sql: /^UPDATE keyhook_apps SET revision/ },
      when: 'before',
    },
    ...around('edit.operations', /^INSERT INTO keyhook_revisions/),
  ],
  file: [
    ...beside('file.queue', /^INSERT INTO keyhook_files /),
    ...beside('file.claim', /^UPDATE keyhook_files SET status = 'processing'/),
    {
      name: 'file.clear.after_commit',
      at: commitOf(/^DELETE FROM keyhook_file_chunks/),
      when: 'after',
    },
    {
      name: 'file.extract.told',
      at: { sql: /^UPDATE keyhook_jobs SET lease_until/, bind: /extract/ },
      when: 'after',
    },
    { name: 'file.chunk.mid', at: { sql: /^INSERT INTO keyhook_file_chunks/ }, when: 'after' },
    {
      name: 'file.chunk.after_commit',
      at: commitOf(/^INSERT INTO keyhook_file_chunks/),
      when: 'after',
      nth: 2,
    },
    {
      name: 'file.embed.after_commit',
      at: commitOf(/^INSERT INTO keyhook_file_vectors/),
      when: 'after',
    },
    ...around('file.end', /^UPDATE keyhook_files SET status = 'processed'/),
  ],
  'bad file': beside('file.failing', /^UPDATE keyhook_files SET status = 'failed'/),
} as const satisfies Readonly<Record<string, readonly WorkFailpoint[]>>
