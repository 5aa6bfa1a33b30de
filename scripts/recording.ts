import { escapeXml } from './svg.ts'

/** A screen of a terminal and the time at which it appeared. */
export interface TerminalFrame {
  /** Milliseconds since the start of the recording. */
  readonly at: number
  /** Lines with SGR escape sequences, as `tmux capture-pane -e` prints them. */
  readonly text: string
}

export interface RecordingSize {
  readonly columns: number
  readonly rows: number
}

const charWidth = 8.4
const lineHeight = 18
const padding = 14
/**
 * Longer pauses between two frames are shortened to this time, because the screen does not change during a
 * pause.
 */
const maxPauseMs = 1500
/** Time that the last frame stays before the recording repeats. */
const lastFrameMs = 6000

/** Colours of SGR codes, readable on the dark background of the recording. */
const colours: Readonly<Record<string, string>> = {
  '31': '#ff9592',
  '32': '#71d083',
  '33': '#ffca16',
  '34': '#70b8ff',
  '35': '#d19dff',
  '36': '#4ccce6',
  '90': '#8b8d98',
}

/**
 * Renders frames as an animated SVG without scripts. All frames are stacked, and the animation moves the
 * stack. If the reader prefers reduced motion, only the last frame is shown.
 */
export function renderRecording(frames: readonly TerminalFrame[], { columns, rows }: RecordingSize): string {
  const width = Math.ceil(columns * charWidth + 2 * padding)
  const height = rows * lineHeight + 2 * padding
  const times = compressPauses(frames)
  const total = (times.at(-1) ?? 0) + lastFrameMs
  const keyframes = times.map(
    (at, index) => `${((at / total) * 100).toFixed(3)}%{transform:translateY(${-index * height}px)}`,
  )
  const last = -(frames.length - 1) * height
  const screens = frames.map(({ text }, index) => renderScreen(text, index * height))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14">
<style>.s{animation:play ${(total / 1000).toFixed(1)}s steps(1,end) infinite}@keyframes play{${keyframes.join('')}100%{transform:translateY(${last}px)}}@media (prefers-reduced-motion:reduce){.s{animation:none;transform:translateY(${last}px)}}text{white-space:pre;fill:#edeef0}</style>
<rect width="${width}" height="${height}" rx="8" fill="#18191b"/>
<g class="s">
${screens.join('\n')}
</g>
</svg>
`
}

function compressPauses(frames: readonly TerminalFrame[]): number[] {
  let now = 0
  return frames.map(({ at }, index) => {
    now += Math.min(maxPauseMs, at - (frames[index - 1]?.at ?? at))
    return now
  })
}

function renderScreen(text: string, top: number): string {
  const lines = text.split('\n').flatMap((line, row) => {
    const spans = splitStyles(line)
    if (spans.every((span) => span.text.trim() === '')) return []
    const y = top + padding + (row + 1) * lineHeight - 4
    return [`<text x="${padding}" y="${y}">${spans.map(renderSpan).join('')}</text>`]
  })
  return `<g>${lines.join('')}</g>`
}

interface StyledText {
  readonly text: string
  readonly colour: string | undefined
  readonly bold: boolean
  readonly dim: boolean
}

const plainStyle = { colour: undefined, bold: false, dim: false }

/** Splits a line at SGR sequences. Unknown codes and other escape sequences are dropped. */
export function splitStyles(line: string): readonly StyledText[] {
  // oxlint-disable-next-line no-control-regex -- terminal output contains escape characters
  const parts = line.split(/\u001B\[([\d;]*)m/)
  let style: Omit<StyledText, 'text'> = plainStyle
  return parts.flatMap((part, index) => {
    if (index % 2 === 0) return part === '' ? [] : [{ text: part, ...style }]
    for (const code of part.split(';')) style = applyCode(style, code)
    return []
  })
}

function applyCode(style: Omit<StyledText, 'text'>, code: string): Omit<StyledText, 'text'> {
  if (code === '' || code === '0') return plainStyle
  if (code === '1') return { ...style, bold: true }
  if (code === '2') return { ...style, dim: true }
  if (code === '22') return { ...style, bold: false, dim: false }
  if (code === '39') return { ...style, colour: undefined }
  const colour = colours[code]
  return colour === undefined ? style : { ...style, colour }
}

function renderSpan({ text, colour, bold, dim }: StyledText): string {
  const fill = colour ?? (dim ? '#b0b4ba' : undefined)
  const attributes = `${fill === undefined ? '' : ` fill="${fill}"`}${bold ? ' font-weight="700"' : ''}`
  const escaped = escapeXml(text)
  return attributes === '' ? `<tspan>${escaped}</tspan>` : `<tspan${attributes}>${escaped}</tspan>`
}
