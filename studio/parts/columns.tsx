const HEIGHT = 120
const STEP = 24
const WIDTH = 16

/** Columns over time, and the same as a table for who reads it another way. */
export function Columns({
  label,
  unit,
  of,
}: {
  readonly label: string
  readonly unit: string
  readonly of: readonly { readonly name: string; readonly value: number }[]
}) {
  const most = Math.max(1, ...of.map(({ value }) => value))
  return (
    <figure className="columns">
      <svg
        viewBox={`0 0 ${Math.max(1, of.length) * STEP} ${HEIGHT}`}
        height={HEIGHT}
        role="img"
        aria-label={`${label}: at most ${most.toLocaleString()} ${unit}`}
        preserveAspectRatio="xMinYMax meet"
      >
        {of.map(({ name, value }, at) => {
          const height = Math.max(value === 0 ? 1 : 3, (value / most) * (HEIGHT - 4))
          return (
            <rect key={name} x={at * STEP} y={HEIGHT - height} width={WIDTH} height={height}>
              <title>{`${name}: ${value.toLocaleString()} ${unit}`}</title>
            </rect>
          )
        })}
      </svg>
      <details>
        <summary>As a table</summary>
        <table className="table" aria-label={label}>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">{unit}</th>
            </tr>
          </thead>
          <tbody>
            {of.map(({ name, value }) => (
              <tr key={name}>
                <td>{name}</td>
                <td>{value.toLocaleString()}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}
