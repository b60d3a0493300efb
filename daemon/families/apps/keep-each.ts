/** What is kept at once for one request: it waits for the disk, and others wait for it too. */
const AT_ONCE = 4

/** Works through all, a few at a time and in no order; once one fails no other is begun, and it rejects when none is left under way. */
export async function keepEach<Item>(
  items: Iterable<Item>,
  keep: (item: Item) => Promise<void>,
): Promise<void> {
  const left = oneAfterAnother(items)
  const lane = async (): Promise<void> => {
    // What throws in here ends what is left for all lanes.
    for (const item of left) await keep(item)
  }
  const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane))
  const failed = lanes.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

function* oneAfterAnother<Item>(items: Iterable<Item>): Generator<Item> {
  yield* items
}
