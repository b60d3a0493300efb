import { mountIn } from '../support/mounting.ts'

mountIn('fastify')
for (const suite of ['events', 'bad-input']) await import(`../daemon/${suite}.test.ts`)
