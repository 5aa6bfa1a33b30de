import { z } from 'zod'
import { type Event, eventFormat } from '../../contract/event.ts'
import type { RunView } from '../../ui/views.ts'
import type { ClusterFiles } from '../../workspace/context.ts'
import type { CommandContext, LeafCommand } from '../command/command.ts'
import { buildTimeline, wholeCluster } from '../html/timeline.ts'
import { readCommandDocument } from './read-document.ts'

const eventList = z.looseObject({ run: z.string(), items: z.array(eventFormat.newest.schema) })

/** Reads the events of a run, which may still be running, and builds its timeline. */
export async function readRunView(
  context: CommandContext,
  command: LeafCommand,
  files: ClusterFiles,
  name: string,
): Promise<RunView> {
  const { run, items } = eventList.parse(await readCommandDocument(context, command, files, [name]))
  return buildRunView(run, items)
}

export function buildRunView(run: string, events: readonly Event[]): RunView {
  const { command, start, end, result, lanes, failures } = buildTimeline(events)
  const format = (time: number): string => (Number.isFinite(time) ? new Date(time).toISOString() : '')
  return {
    ...{ run, command, started: format(start), lastEvent: format(end) },
    ...(result === undefined ? {} : { outcome: result.outcome }),
    hosts: [...lanes].map(([host, steps]) => ({
      host,
      steps: steps.map(({ title, start: started, end: ended, outcome }) => ({
        ...{ title, started: format(started), ended: format(ended) },
        outcome: outcome === 'interrupted' && result === undefined ? 'not ended' : outcome,
      })),
    })),
    waits: result === undefined ? listWaits(events) : [],
    failures: [...failures],
  }
}

/** Lists what each host waits for. Further work on a host shows that its wait has ended. */
function listWaits(events: readonly Event[]): RunView['waits'] {
  const waits = new Map<string, RunView['waits'][number]>()
  for (const { body, host } of events) {
    if (body.type === 'waiting') {
      const name = host ?? wholeCluster
      waits.set(name, { host: name, for: body.for, since: body.since })
    } else if (body.type !== 'log' && body.type !== 'finding') {
      waits.delete(host ?? wholeCluster)
    }
  }
  return [...waits.values()]
}
