/** JSON as text: whatever it holds, it is never markup. */
export function Json({ label, of }: { readonly label: string; readonly of: unknown }) {
  return (
    <pre tabIndex={0} aria-label={label}>
      {JSON.stringify(of, null, 2)}
    </pre>
  )
}
