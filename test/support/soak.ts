const SIZE = process.env['KEYHOOK_TEST_SOAK']

/**
 * Whether the long form of the suites in test/soak runs: `npm run test:soak`, or all of it with
 * `KEYHOOK_TEST_SOAK=all`. Else the short one, as in `npm test`.
 */
export const IS_SOAK = SIZE === '1' || SIZE === 'all'

/** Whether all of it runs: the full sizes, and the daemons that err on purpose to show that the suites see it. */
export const IS_ALL = SIZE === 'all'

/** The size of a run: what a first look takes, what the soak has time for, or all of it. */
export const sized = <Size>(short: Size, long: Size, all: Size = long): Size =>
  IS_ALL ? all : IS_SOAK ? long : short

/** The databases of daemons that are killed. CI runs the short form and the long one, so each database once. */
export const KILLED_ON = sized<readonly ('sqlite' | 'postgres')[]>(
  ['sqlite'],
  ['postgres'],
  ['sqlite', 'postgres'],
)
