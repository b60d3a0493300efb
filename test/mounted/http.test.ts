import { mountIn } from '../support/mounting.ts'

mountIn('http')
for (const suite of ['webhooks', 'bad-input']) await import(`../daemon/${suite}.test.ts`)
