import { whyNotReady } from '../../cluster-objects/node-readiness.ts'
import type { Look } from '../../observe/observe-cluster.ts'
import { commandFor } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'

/** Nodes as the API knows them. When it does not answer, that is told instead. */
export function unreadyNodes({ hosts, nodes }: Look): Diagnosis[] {
  if (nodes === undefined) return []
  return hosts.flatMap(({ place: { host, node: name } }): Diagnosis[] => {
    if (name === undefined) return []
    const node = nodes.find(({ metadata }) => metadata.name === name)
    const reason = whyNotReady(node)
    if (reason === undefined) return []
    const since = node?.status?.conditions.find(({ type }) => type === 'Ready')?.lastTransitionTime
    return [
      {
        code: 'NODE_NOT_READY',
        severity: 'error',
        what: `node ${name} is not ready`,
        ...(since === undefined ? {} : { since }),
        host,
        evidence: [`the API says: ${reason}`],
        command: commandFor({ code: 'NODE_NOT_READY', host }),
        needsPerson: false,
      },
    ]
  })
}
