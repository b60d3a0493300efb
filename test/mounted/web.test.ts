import { mountIn } from '../support/mounting.ts'

mountIn('web')
for (const suite of ['webhooks', 'bad-input']) await import(`../daemon/${suite}.test.ts`)
