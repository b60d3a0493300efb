import { id, int, named, orNull } from '../../store/sql/columns.ts'
import { defineModel } from '../model/define.ts'

/** What an app serves. */
export const SITES = defineModel('sites', {
  app_id: id(),
  account_id: id(),
  /** What is live; null while nothing is. */
  deployment_id: orNull(id()),
  /** Incremented when the site switches or goes offline; 0 before the first switch. */
  generation: named('turn', int()),
  /** Begins the address under which its files are seen before they are published; nobody guesses it. */
  preview: id(),
})
