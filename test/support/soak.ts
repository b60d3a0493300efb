/** Whether the long form of the suites in test/soak runs: `npm run test:soak`. `npm test` runs the short one. */
export const IS_SOAK = process.env['KEYHOOK_TEST_SOAK'] === '1'

/** The size of a run: what `npm test` has time for, or all of it. */
export const sized = <Size>(short: Size, long: Size): Size => (IS_SOAK ? long : short)
