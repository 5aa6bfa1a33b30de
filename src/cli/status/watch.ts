import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import type { Context, Output, Screen } from '../command.ts'
import { type Frame, noFrame, redraw } from '../render/frame.ts'
import { width } from '../render/text-width.ts'

/** Between two looks, in milliseconds. */
const pause = 5000

/** Shows the same again and again, in its place where there is a terminal to draw on, until somebody has had enough. */
export async function watch(
  { stdout, resultScreen, signal }: Pick<Context, 'stdout' | 'resultScreen' | 'signal'>,
  show: (output: Output) => Promise<unknown>,
): Promise<never> {
  let shown: Frame = noFrame
  for (let isFirst = true; ; isFirst = false) {
    const texts: string[] = []
    await show({ write: (text) => texts.push(text) })
    const text = texts.join('')
    if (resultScreen === undefined) stdout.write(isFirst ? text : `\n${text}`)
    else {
      const next = frameOf(text, resultScreen.size())
      stdout.write(redraw(shown, next, resultScreen.size().columns))
      shown = next
    }
    await sleep(pause, undefined, { signal })
  }
}

/** As much of it as there is room for: what is above the screen could not be drawn anew. */
export function frameOf(text: string, { columns, rows }: ReturnType<Screen['size']>): Frame {
  const all = text.replace(/\n$/, '').split('\n')
  const room = Math.max(1, rows - 1)
  const lines =
    all.length <= room ? all : [...all.slice(0, room - 1), `… ${all.length - room + 1} more lines`]
  const widths = lines.map((line) => Math.min(columns, width(stripVTControlCharacters(line))))
  return { lines, widths }
}
