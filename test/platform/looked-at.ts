import assert from 'node:assert/strict'
import { DEPLOYMENT_STATUSES } from '../../plugins/platform/contract/deployments.ts'
import { follow } from '../../plugins/store/conformance/looked-at.ts'
import { ACCOUNT, BORN } from '../../plugins/store/conformance/samples.ts'
import { sampleApp } from './app-samples.ts'
import { insertDeployments, insertSites, sampleDeployment } from './deployment-samples.ts'
import { insertEdits, sampleEdit } from './edit-samples.ts'
import type { PlatformCase } from './harness.ts'

/** Rows that a page of these cases looks at. */
const MOST = 3

const idOf = ({ id }: { readonly id: string }): string => id

/** Ten of a noun, numbered so that their ids sort in the order of their making. */
const TEN = Array.from({ length: 10 }, (_, index) => index)

/** The third and the fourth, and the last but one. */
const isRare = (index: number): boolean => [2, 3, 8].includes(index)

export const lookedAtCases: readonly PlatformCase[] = [
  {
    name: 'edits, deployments: a filtered page looks at so many rows and leads on',
    async run({ open }) {
      const store = await open()
      const found = (noun: string) => [[`${noun}_8`], [], [`${noun}_3`, `${noun}_2`], []]
      await insertEdits(
        store,
        ...TEN.map((index) =>
          sampleEdit(`edit_${index}`, { kind: isRare(index) ? 'structured' : 'prompt' }),
        ),
      )
      const edits = { app_id: 'app_1', status: null, kind: null, initial: null, limit: 100 }
      assert.deepEqual(
        await follow(
          (after) => store.edits.list({ ...edits, kind: 'structured', after }, MOST),
          idOf,
        ),
        found('edit'),
      )

      await insertSites(store, 'app_1')
      for (const index of TEN) {
        const kind = isRare(index) ? 'rollback' : 'publish'
        const status = 'failed'
        await insertDeployments(store, sampleDeployment(`dep_${index}`, { kind, status }))
      }
      const asked = { app_id: 'app_1', statuses: DEPLOYMENT_STATUSES, limit: 100 }
      const deployments = await follow(
        (after) => store.deployments.list({ ...asked, kind: 'rollback', after }, MOST),
        idOf,
      )
      assert.deepEqual(deployments, found('dep'))
    },
  },
  {
    name: 'apps: a filtered page looks at so many apps, and one that finds less leads on',
    async run({ open }) {
      const store = await open()
      await store.write(async (tx) => {
        for (const index of TEN) {
          const status = isRare(index) ? 'failed' : 'ready'
          await tx.apps.insert(
            sampleApp(`app_${index}`, { status, created_at: BORN + (index >> 1) }),
          )
        }
      })
      const query = {
        account_id: ACCOUNT,
        ids: null,
        archived: 'include',
        status: 'failed',
        alias: null,
        limit: 100,
      } as const
      assert.deepEqual(
        await follow(
          (after) => store.apps.list({ ...query, after }, MOST),
          idOf,
          () => assert.fail('it leads on before its limit'),
        ),
        [['app_8'], [], ['app_3', 'app_2'], []],
      )
    },
  },
]
