import { mountIn } from '../support/mounting.ts'

mountIn('express')
for (const suite of ['keys', 'webhooks', 'deliveries', 'events', 'bad-input']) {
  await import(`../daemon/${suite}.test.ts`)
}
