import type { CommandContext } from '../command/command.ts'
import { erase, type Frame, noFrame, redraw } from './frame.ts'
import { type StyledLine, paintLine, measureLine } from './line.ts'

/** Redraws lines at the end of a terminal, and writes permanent text above them. */
export interface LiveLines {
  readonly draw: (lines: readonly StyledLine[]) => void
  readonly write: (text: string) => void
}

export function createLiveLines({
  stderr,
  screen,
  paintProgress,
}: Pick<CommandContext, 'stderr' | 'paintProgress'> & {
  readonly screen: NonNullable<CommandContext['screen']>
}): LiveLines {
  let shown: Frame = noFrame
  return {
    draw(lines) {
      const next = {
        lines: lines.map((line) => paintLine(line, paintProgress)),
        widths: lines.map(measureLine),
      }
      stderr.write(redraw(shown, next, screen.size().columns))
      shown = next
    },
    write(text) {
      stderr.write(`${erase(shown, screen.size().columns)}${text}`)
      shown = noFrame
    },
  }
}
