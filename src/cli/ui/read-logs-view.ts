import type { z } from 'zod'
import { type LogSearch, type LogsView, viewSchemas } from '../../ui/views.ts'
import type { ClusterFiles } from '../../workspace/context.ts'
import type { CommandContext, LeafCommand } from '../command/command.ts'
import { allServices } from '../logs/all-services.ts'
import { parseTimeFlag } from '../logs/flags.ts'
import { collect, createSilentContext } from './read-document.ts'

/** Lines that one view has. More would make the page slow. */
export const maxShownLines = 1000
/** Lines per host without a search text. */
const linesPerHost = 200

/** Reads logs like `hyperkube logs`, and keeps the newest lines. Hosts that fail are part of the document. */
export async function readLogsView(
  context: CommandContext,
  command: LeafCommand,
  files: ClusterFiles,
  { component, host, since, text }: LogSearch,
): Promise<LogsView> {
  const newest: string[] = []
  let count = 0
  const stdout = {
    write(line: string) {
      count++
      newest.push(line)
      // Lines are removed in batches, because each removal moves all others.
      if (newest.length >= 2 * maxShownLines) newest.splice(0, newest.length - maxShownLines)
    },
  }
  const problems: string[] = []
  await command.run(createSilentContext(context, stdout, collect(problems)), {
    args: component === undefined ? [] : [component],
    options: {
      ...files,
      ...{ output: 'json', input: false, quiet: true, since: parseTimeFlag(since) },
      ...(text === undefined ? { lines: linesPerHost } : { grep: text }),
      ...(host === undefined ? {} : { limit: [host] }),
    },
  })
  return {
    components: [...allServices],
    lines: newest.slice(-maxShownLines).map((line) => lineSchema.parse(JSON.parse(line))),
    isCut: count > maxShownLines,
    problems: problems.join('').trim(),
  }
}

const lineSchema: z.ZodType<LogsView['lines'][number]> = viewSchemas.logs.shape.lines.element
