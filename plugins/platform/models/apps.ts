import { big, creator, group, id, int, json, named, orNull, text } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'

/** What an app was made from. */
const SOURCE = group({
  kind: named('source_kind', text<'template' | 'prompt' | 'prompt_files' | 'clone'>()),
  template_id: orNull(text()),
  cloned_from: orNull(text()),
})

export const APPS = defineModel('apps', {
  id: id(),
  account_id: id(),
  name: text(),
  /** Of the apps that are not archived, no two have the same. */
  alias: orNull(id()),
  status: text<'creating' | 'ready' | 'failed'>(),
  source: SOURCE,
  /** The number of its current revision; null until it has one. */
  revision: orNull(int()),
  metadata: json<Readonly<Record<string, string>>>(),
  created_by: creator(),
  created_at: big(),
  updated_at: big(),
  /** Archived apps answer reads and nothing else, until they are restored or purged. */
  archived_at: orNull(big()),
  purge_at: orNull(big()),
})

/** What an app's files were at one time. It never changes. */
export const REVISIONS = defineModel('revisions', {
  app_id: id(),
  /** 1, 2, … in the order in which they became the current one. */
  number: int(),
  /** The SHA-256, in hex, of the tree that names its files. */
  tree: text(),
  files: int(),
  bytes: big(),
  message: orNull(text()),
  /** The edit that made it; null for what an app was made with. */
  edit_id: orNull(text()),
  created_by: creator(),
  created_at: big(),
})

/** Aliases that are their accounts' alone for a while after an app gave them up. */
export const LEFT_ALIASES = defineModel('left_aliases', {
  alias: id(),
  account_id: id(),
  kept_until: big(),
})
