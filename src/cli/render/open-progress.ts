import type { Context } from '../command.ts'
import { plainProgress } from './plain-progress.ts'
import type { Progress } from './progress.ts'
import { treeProgress } from './tree-progress.ts'

export const progressKinds = ['auto', 'tree', 'plain', 'json'] as const
export type ProgressKind = (typeof progressKinds)[number]

/** A tree where there is a terminal to move on, lines elsewhere, and events as they are for programs. */
export function openProgress(
  { stderr, screen, paintProgress, every, now }: Context,
  kind: ProgressKind,
  debug: boolean,
): Progress {
  if (kind === 'json') return jsonProgress((text) => void stderr.write(text))
  const tree = kind === 'tree' || (kind === 'auto' && !debug)
  return tree && screen !== undefined
    ? treeProgress({ output: stderr, screen, paint: paintProgress, every, now })
    : plainProgress({ output: stderr, paint: paintProgress, every })
}

function jsonProgress(write: (text: string) => void): Progress {
  return {
    heard: (event) => write(`${JSON.stringify(event)}\n`),
    say: () => undefined,
    close: () => undefined,
  }
}
