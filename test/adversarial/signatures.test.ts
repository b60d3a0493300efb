import t from 'tap'
import { runSection } from './run.ts'
import { DELIVERY_CHECKS } from './signatures/deliveries.ts'
import { HEADER_CHECKS } from './signatures/custom-headers.ts'
import { PUBLISHED_CHECKS } from './signatures/published.ts'
import { SIGNATURES } from './table.ts'

await runSection(t, SIGNATURES, { ...PUBLISHED_CHECKS, ...DELIVERY_CHECKS, ...HEADER_CHECKS })
