import type { Context } from '../command.ts'
import { erase, type Frame, noFrame, redraw } from './frame.ts'
import { type Line, painted, widthOf } from './line.ts'

/** Lines at the end of a terminal that are drawn anew, and text that stays above them. */
export interface MovingLines {
  readonly draw: (lines: readonly Line[]) => void
  readonly write: (text: string) => void
}

export function movingLines({
  stderr,
  screen,
  paintProgress,
}: Pick<Context, 'stderr' | 'paintProgress'> & {
  readonly screen: NonNullable<Context['screen']>
}): MovingLines {
  let shown: Frame = noFrame
  return {
    draw(lines) {
      const next = { lines: lines.map((line) => painted(line, paintProgress)), widths: lines.map(widthOf) }
      stderr.write(redraw(shown, next, screen.size().columns))
      shown = next
    },
    write(text) {
      stderr.write(`${erase(shown, screen.size().columns)}${text}`)
      shown = noFrame
    },
  }
}
