/**
 * Colours that are readable on a white and on a dark page. A picture in an `img` element cannot detect which
 * of the two pages shows it.
 */
export const colours = {
  blue: '#3467c9',
  green: '#2b7a4f',
  amber: '#a8570a',
  grey: '#5b6472',
  line: '#8a94a3',
  text: '#768090',
} as const

export type Colour = keyof typeof colours

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

export interface TextOptions {
  readonly fill?: string
  readonly size?: number
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly bold?: boolean
}

/** Renders one line of text. `y` is its vertical middle. */
export function renderText(x: number, y: number, text: string, options: TextOptions = {}): string {
  const { fill = colours.text, size = 13, anchor = 'start', bold = false } = options
  const weight = bold ? ' font-weight="600"' : ''
  return `<text x="${x}" y="${Math.round(y + size * 0.35)}" font-size="${size}" text-anchor="${anchor}" fill="${fill}"${weight}>${escapeXml(text)}</text>`
}

/** Wraps shapes in a document with a title for screen readers. */
export function renderSvg(width: number, height: number, title: string, shapes: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, 'Segoe UI', Roboto, sans-serif">
<title>${escapeXml(title)}</title>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" fill="${colours.line}"/></marker></defs>
${shapes.join('\n')}
</svg>
`
}

/** Splits a text into lines of at most `max` characters. */
export function wrapText(text: string, max: number): string[] {
  return text.split('\n').flatMap((paragraph) =>
    paragraph.split(' ').reduce<string[]>((lines, word) => {
      const last = lines.at(-1)
      if (last === undefined || last.length + word.length + 1 > max) return [...lines, word]
      return [...lines.slice(0, -1), `${last} ${word}`]
    }, []),
  )
}
