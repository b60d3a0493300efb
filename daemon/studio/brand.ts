/**
 * The brand's colour as a style sheet. Studio's policy forbids inline styles, so the colour comes from a file of the
 * daemon.
 *
 * @module
 */

type Rgb = readonly [red: number, green: number, blue: number]

const WHITE: Rgb = [255, 255, 255]
/** Background of the dark theme's panels. */
const DARK: Rgb = [32, 35, 40]

/** Contrast of the accent with what it lies on; WCAG AA asks for 4.5, and tinted rows take some of it. */
const CONTRAST = 5.5

/**
 * Custom properties of the accent: as a background below white text, and as text in both themes. A colour that is too
 * pale or too dark is moved until it can be read.
 *
 * @param color `#rrggbb`
 * @example
 * brandStyle('#ffd43b') // the yellow is darkened in the light theme and kept in the dark one
 */
export function brandStyle(color: string): string {
  const chosen = parse(color)
  const filled = moveUntil(chosen, [0, 0, 0], WHITE)
  const hover = mix(filled, [0, 0, 0], 0.15)
  const onDark = moveUntil(chosen, WHITE, DARK)
  const lines = [
    `--accent: ${print(filled)};`,
    `--accent-hover: ${print(hover)};`,
    `--accent-text: light-dark(${print(filled)}, ${print(onDark)});`,
  ]
  return `:root {\n  ${lines.join('\n  ')}\n}\n`
}

function parse(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

function print(color: Rgb): string {
  return `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}

/** In steps of 2 %, so that a colour that is fine stays as it is. */
function moveUntil(color: Rgb, towards: Rgb, background: Rgb): Rgb {
  for (let share = 0; share < 1; share += 0.02) {
    const moved = mix(color, towards, share)
    if (contrast(moved, background) >= CONTRAST) return moved
  }
  return towards
}

function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const part = (index: 0 | 1 | 2): number => Math.round(a[index] + (b[index] - a[index]) * share)
  return [part(0), part(1), part(2)]
}

/** WCAG 2.2, contrast ratio: 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [lighter = 0, darker = 0] = [luminance(a), luminance(b)].sort((one, two) => two - one)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
