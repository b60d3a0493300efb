import type { Change } from '../../../lib/engine/changes.ts'
import type { StoreTx, Store } from '../contract.ts'
import type { ChangeSink } from '../contract/changes.ts'
import { accountReads, accountWrites } from './accounts.ts'
import { appReads, appWrites } from './apps.ts'
import type { Query, SqlClient } from './client.ts'
import { deliveryReads, deliveryWrites } from './deliveries.ts'
import { deploymentReads, deploymentWrites } from './deployments.ts'
import { dispatchStore } from './dispatch.ts'
import { domainReads, domainWrites } from './domains.ts'
import { editReads, editWrites } from './edits.ts'
import { eventReads, eventWrites, insertGroup } from './events.ts'
import { fileReads, fileWrites } from './files.ts'
import { keyReads, keyWrites } from './keys.ts'
import { observationReads, observationWrites } from './observations.ts'
import { purge } from './purge.ts'
import { requestReads, requestWrites } from './requests.ts'
import { sealReads, sealWrites } from './seals.ts'
import { serviceReads, serviceWrites } from './services.ts'
import { signInReads, signInWrites } from './sign-in.ts'
import type { Tables } from './tables.ts'
import { webhookReads, webhookWrites } from './webhooks.ts'

/** Who joins a transaction of somebody else's publishes; what caches hold is changed in units alone. */
const REFUSED: ChangeSink = {
  push() {
    throw new TypeError('inside a transaction of your own nothing but publishing is possible')
  },
}

/** The store over a SQL database whose schema is up to date. */
export function createSqlStore(client: SqlClient, t: Tables): Store {
  const { dialect, read } = client
  const reads = {
    accounts: accountReads(read, t),
    apps: appReads(read, t, dialect),
    deployments: deploymentReads(read, t, dialect),
    edits: editReads(read, t),
    files: fileReads(read, t, dialect),
    keys: keyReads(read, t, dialect),
    webhooks: webhookReads(read, t, dialect),
    events: eventReads(read, t, dialect),
    deliveries: deliveryReads(read, t, dialect),
    observations: observationReads(read, t),
    requests: requestReads(read, t),
    seals: sealReads(read, t, dialect),
    domains: domainReads(read, t),
    services: serviceReads(read, t),
    signIn: signInReads(read, t),
  }

  function unitOfWork(query: Query, changes: ChangeSink, afterCommit: (() => void)[]): StoreTx {
    const webhooks = webhookWrites(query, t, dialect, changes)
    const events = eventWrites(query, t, dialect, changes)
    return {
      accounts: accountWrites(query, t, changes),
      apps: appWrites(query, t, dialect, changes),
      deployments: deploymentWrites(query, t, dialect, changes),
      edits: editWrites(query, t, dialect),
      files: fileWrites(query, t, dialect),
      keys: keyWrites(query, t, dialect, changes),
      webhooks,
      events,
      deliveries: deliveryWrites(query, t, dialect),
      observations: observationWrites(query, t, dialect),
      requests: requestWrites(query, t),
      seals: sealWrites(query, t, dialect),
      domains: domainWrites(query, t, dialect, changes),
      services: serviceWrites(query, t, dialect),
      signIn: signInWrites(query, t, changes),
      webhooksOf: (accountId) => webhooks.ofAccount(accountId),
      insertPublished: (group) => events.insert(group),
      disableWebhook: (id, reason, now) => webhooks.disable(id, reason, now),
      markFailing: (id, now) => webhooks.markFailing(id, now),
      afterCommit(run) {
        afterCommit.push(run)
      },
    }
  }

  return {
    ...reads,
    ...dispatchStore(client, t),
    webhooksOf: (accountId) => reads.webhooks.ofAccount(accountId),
    publish: (build) =>
      client.exclusive('publish', (statement) => insertGroup(statement, t, dialect, build())),
    async write(work) {
      const afterCommit: (() => void)[] = []
      const changes: Change[] = []
      return client.transaction((query) => work(unitOfWork(query, changes, afterCommit)), {
        changes: () => changes,
        committed() {
          for (const run of afterCommit) run()
        },
      })
    },
    purge: (kind, before, limit) => purge(client, t, kind, before, limit),
    join(transaction) {
      const afterCommit: (() => void)[] = []
      return {
        tx: unitOfWork(client.join(transaction), REFUSED, afterCommit),
        committed() {
          for (const run of afterCommit.splice(0)) run()
        },
      }
    },
    changes: client.changes,
    claimant: client.claimant,
    ...(client.now && { now: client.now }),
    ...(client.announce && { announce: client.announce }),
    ...(client.onSilence && { onSilence: client.onSilence }),
    manyProcesses: dialect.name === 'postgres',
    ...(client.watch && { watch: client.watch }),
    ...(client.hold && { hold: client.hold }),
    async ping() {
      await client.exclusive('ping', (statement) =>
        statement(
          `INSERT INTO ${t.meta} (name, value) VALUES ('ping', $1)
           ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
          [String(Date.now())],
        ),
      )
    },
    close: () => client.close(),
  }
}
