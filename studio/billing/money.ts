/** An amount in millionths of a unit, to the cent or as exactly as it is. */
export function amountOf(micros: number, currency: string | null): string {
  const format = { minimumFractionDigits: 2, maximumFractionDigits: 6 } as const
  return `${currency ?? ''} ${new Intl.NumberFormat(undefined, format).format(micros / 1_000_000)}`.trim()
}
