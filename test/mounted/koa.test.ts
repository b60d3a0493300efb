import { mountIn } from '../support/mounting.ts'

mountIn('koa')
for (const suite of ['keys', 'bad-input']) await import(`../daemon/${suite}.test.ts`)
