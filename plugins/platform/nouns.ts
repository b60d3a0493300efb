import type { Migration } from '../store/sql/migrations/migration.ts'
import { jobReads } from './jobs/jobs.ts'
import { hostingReads, hostingWrites } from './ledger/hosting.ts'
import { ledgerReads, ledgerWrites } from './ledger/ledger.ts'
import { apps } from './migrations/apps.ts'
import { bytes } from './migrations/bytes.ts'
import { deployments } from './migrations/deployments.ts'
import { edits } from './migrations/edits.ts'
import { files } from './migrations/files.ts'
import { hosting } from './migrations/hosting.ts'
import { jobs } from './migrations/jobs.ts'
import { ledger } from './migrations/ledger.ts'
import { observations } from './migrations/observations.ts'
import { payments } from './migrations/payments.ts'
import { portalSessions } from './migrations/portal-sessions.ts'
import { settings } from './migrations/settings.ts'
import { tasks } from './migrations/tasks.ts'
import { appReads, appWrites } from './sql/apps.ts'
import { deploymentReads, deploymentWrites } from './sql/deployments.ts'
import { domainReads, domainWrites } from './sql/domains.ts'
import { editReads, editWrites } from './sql/edits.ts'
import { fileReads, fileWrites } from './sql/files.ts'
import { observationReads, observationWrites } from './sql/observations.ts'
import { paymentReads, paymentWrites } from './sql/payments.ts'
import { portalSessionReads, portalSessionWrites } from './sql/portal-sessions.ts'
import type { ReadScope, WriteScope } from './sql/scope.ts'
import { serviceReads, serviceWrites } from './sql/services.ts'
import { signInReads, signInWrites } from './sql/sign-in.ts'
import type { PlatformTables } from './sql/tables.ts'
import { taskReads, taskWrites } from './sql/tasks.ts'

/** A noun of the platform store. */
export interface Noun {
  /** The steps of its schema. Default: none; those of a noun before it create its tables. */
  readonly migrations?: readonly Migration<PlatformTables>[]
  /** Its records, as they are read. */
  reads(scope: ReadScope): object
  /** Its records, as they are read and changed in a unit of work. */
  writes(scope: WriteScope): object
}

/** Every noun by its name in the store, in the order of release: a new one is the last. */
export const NOUNS = {
  apps: { migrations: [...apps, ...bytes], reads: appReads, writes: appWrites },
  edits: { migrations: edits, reads: editReads, writes: editWrites },
  files: { migrations: files, reads: fileReads, writes: fileWrites },
  deployments: { migrations: deployments, reads: deploymentReads, writes: deploymentWrites },
  domains: { migrations: settings, reads: domainReads, writes: domainWrites },
  services: { reads: serviceReads, writes: serviceWrites },
  signIn: { reads: signInReads, writes: signInWrites },
  observations: { migrations: observations, reads: observationReads, writes: observationWrites },
  jobs: { migrations: jobs, reads: jobReads, writes: ({ jobs }: WriteScope) => jobs },
  ledger: { migrations: ledger, reads: ledgerReads, writes: ledgerWrites },
  payments: { migrations: payments, reads: paymentReads, writes: paymentWrites },
  hosting: { migrations: hosting, reads: hostingReads, writes: hostingWrites },
  tasks: { migrations: tasks, reads: taskReads, writes: taskWrites },
  portalSessions: {
    migrations: portalSessions,
    reads: portalSessionReads,
    writes: portalSessionWrites,
  },
} as const satisfies Readonly<Record<string, Noun>>

/** In the order in which they were released, after all of the core's. */
export const PLATFORM_MIGRATIONS: readonly Migration<PlatformTables>[] = Object.values<Noun>(
  NOUNS,
).flatMap(({ migrations = [] }) => migrations)
