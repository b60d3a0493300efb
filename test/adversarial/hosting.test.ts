import t from 'tap'
import { ALIAS_CHECKS } from './hosting/aliases.ts'
import { BEACON_CHECKS } from './hosting/beacon.ts'
import { COOKIE_CHECKS } from './hosting/cookies.ts'
import { PAGE_CHECKS } from './hosting/pages.ts'
import { REPORT_CHECKS } from './hosting/reports.ts'
import { HOSTING } from './rows/hosting.ts'
import { runSection } from './run.ts'

await runSection(t, HOSTING, {
  ...COOKIE_CHECKS,
  ...ALIAS_CHECKS,
  ...REPORT_CHECKS,
  ...BEACON_CHECKS,
  ...PAGE_CHECKS,
})
