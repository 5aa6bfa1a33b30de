import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import type { CommandContext, Output, Screen } from '../command/command.ts'
import { type Frame, noFrame, redraw } from '../render/frame.ts'
import { measureWidth } from '../render/text-width.ts'

/** Milliseconds between two observations. */
const intervalMs = 5000

/** Repeats the output until the command is interrupted. On a terminal the output is redrawn in place. */
export async function showRepeatedly(
  { stdout, resultScreen, signal }: Pick<CommandContext, 'stdout' | 'resultScreen' | 'signal'>,
  show: (output: Output) => Promise<unknown>,
): Promise<never> {
  let lastFrame: Frame = noFrame
  for (let isFirst = true; ; isFirst = false) {
    const texts: string[] = []
    await show({ write: (text) => texts.push(text) })
    const text = texts.join('')
    if (resultScreen === undefined) stdout.write(isFirst ? text : `\n${text}`)
    else {
      const next = buildFrame(text, resultScreen.size())
      stdout.write(redraw(lastFrame, next, resultScreen.size().columns))
      lastFrame = next
    }
    await sleep(intervalMs, undefined, { signal })
  }
}

/**
 * Builds a frame from the output. Lines that do not fit are cut off, because lines above the screen cannot be
 * redrawn.
 */
export function buildFrame(text: string, { columns, rows }: ReturnType<Screen['size']>): Frame {
  const all = text.replace(/\n$/, '').split('\n')
  const maxLines = Math.max(1, rows - 1)
  const lines =
    all.length <= maxLines
      ? all
      : [...all.slice(0, maxLines - 1), `… ${all.length - maxLines + 1} more lines`]
  const widths = lines.map((line) => Math.min(columns, measureWidth(stripVTControlCharacters(line))))
  return { lines, widths }
}
