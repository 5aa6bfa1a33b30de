import type { CommandContext } from '../command/command.ts'
import type { ProgressKind } from '../command/run-flags.ts'
import { createPlainProgress } from './plain-progress.ts'
import type { ProgressDetail, ProgressRenderer } from './progress.ts'
import { createTreeProgress } from './tree-progress.ts'

interface ProgressSettings {
  readonly progress: ProgressKind
  readonly debug: boolean
  readonly detail: ProgressDetail
}

/** Opens the progress display: a tree on a terminal, otherwise lines, or JSON events on request. */
export function openProgress(
  { stderr, screen, paintProgress, repeat, now }: CommandContext,
  { progress: kind, debug, detail }: ProgressSettings,
): ProgressRenderer {
  if (kind === 'json') return createJsonProgress((text) => void stderr.write(text))
  const isTree = kind === 'tree' || (kind === 'auto' && !debug && detail === 'normal')
  return isTree && screen !== undefined
    ? createTreeProgress({ output: stderr, screen, paint: paintProgress, repeat, now })
    : createPlainProgress({ output: stderr, paint: paintProgress, repeat, detail })
}

function createJsonProgress(write: (text: string) => void): ProgressRenderer {
  return {
    onEvent: (event) => write(`${JSON.stringify(event)}\n`),
    print: () => undefined,
    close: () => undefined,
  }
}
