/** Work under way: what it does in words, and a bar, which moves by itself where the end is not known. */
export function Progress({
  label,
  words,
  done = 0,
  total = null,
}: {
  readonly label: string
  readonly words: string
  readonly done?: number
  readonly total?: number | null
}) {
  return (
    <div className="progress">
      <progress aria-label={label} {...(total === null ? {} : { value: done, max: total })} />
      <p role="status">
        {words}
        {total !== null && total > 0 && ` ${done} of ${total}.`}
      </p>
    </div>
  )
}
