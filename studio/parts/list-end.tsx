import { Button } from '@mantine/core'
import type { InfinitePages } from './pages.ts'
import { Instant } from './instant.tsx'
import { Problem } from './problem.tsx'

/** How much of the list is there, and what reads more of it without scrolling. */
export function ListEnd({
  pages: { query, rows, hasMore, isKept, readAgain },
  isVirtual,
}: {
  readonly pages: InfinitePages<unknown>
  readonly isVirtual: boolean
}) {
  return (
    <>
      {query.isFetchNextPageError && <Problem error={query.error} />}
      <p className="list-end">
        {rows.length > 0 && <span className="quiet">{countOf(rows.length, hasMore)}</span>}
        {hasMore && (
          <Button
            size="xs"
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            {rows.length === 0 ? 'Search further' : 'Show more'}
          </Button>
        )}
        {isKept && (
          <>
            <span className="quiet">
              Read <Instant at={new Date(query.dataUpdatedAt).toISOString()} />.
            </span>
            <Button
              size="xs"
              variant="default"
              onClick={() => {
                scrollTo(0, 0)
                readAgain()
              }}
            >
              Refresh list
            </Button>
          </>
        )}
      </p>
      {isVirtual && (
        <p className="list-end quiet">
          Rows far from the window are not in the page: your browser’s own search finds only those
          near it. Filters search the whole list.
        </p>
      )}
    </>
  )
}

function countOf(shown: number, more: boolean): string {
  return more ? `The first ${shown}` : shown === 1 ? '1 in all' : `${shown} in all`
}
