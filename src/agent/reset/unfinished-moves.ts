import { compareStages } from '../../contract/component-plan.ts'
import type { Ledger } from '../../contract/ledger.ts'
import type { PredecessorRecord } from '../../contract/predecessor.ts'
import type { Op } from '../../contract/op.ts'
import type { Host } from '../host/host.ts'
import { readLedger } from '../records/ledger.ts'
import { journalRun } from '../records/run-op.ts'
import { runRemovalOp } from './reset.ts'
import { type HostRunOptions, openRemoval } from './stop-services.ts'

/** Components that replace containers which end together with Docker, by the name of the container. */
const successors: Readonly<Record<string, string>> = {
  kubelet: 'kubelet',
  'kube-proxy': 'kube-proxy',
  'nginx-proxy': 'apiserver-proxy',
}

/**
 * Lists the components that have ended their predecessor but never ran. A run that was interrupted leaves such
 * components, for example by a power cut. Docker counts as replaced when all that replaces its containers has run.
 */
export function listUnfinishedMoves({ resources }: Pick<Ledger, 'resources'>): readonly string[] {
  const running = new Set(
    resources.flatMap((resource) =>
      resource.target === 'service' && resource.started
        ? resource.owners.map(({ component }) => component)
        : [],
    ),
  )
  const unfinished = resources.flatMap((resource) => {
    if (resource.target !== 'predecessor' || !resource.kept) return []
    const { owners, record } = resource
    const names = [...owners.map(({ component }) => component), ...listSuccessors(record)]
    return names.every((name) => running.has(name)) ? [] : [resource]
  })
  const components = unfinished.flatMap(({ owners, record }) =>
    owners
      .map(({ component }) => component)
      .filter((component) => record.kind === 'docker' || !running.has(component)),
  )
  // Docker starts its own kubelet and kube-proxy again, so those of hyperkube must not run beside them.
  return unfinished.some(({ record }) => record.kind === 'docker')
    ? [...new Set([...components, ...listNodeServices(resources)])]
    : components
}

/** Lists the components that replace the containers that ran in Docker. */
function listSuccessors(record: PredecessorRecord): readonly string[] {
  if (record.kind !== 'docker') return []
  return record.containers.flatMap(({ container, running }) => (running ? (successors[container] ?? []) : []))
}

/** Lists the components of a node that run as a service. */
function listNodeServices(resources: Ledger['resources']): readonly string[] {
  return resources.flatMap(({ target, owners }) =>
    target === 'service'
      ? owners.filter(({ stage }) => compareStages(stage, 'node') >= 0).map(({ component }) => component)
      : [],
  )
}

export async function readUnfinishedMoves(host: Host): Promise<readonly string[]> {
  const ledger = await readLedger(host)
  return ledger === undefined ? [] : listUnfinishedMoves(ledger)
}

/** Returns the components with an unfinished move to their predecessors. Everything else stays. */
export async function returnUnfinishedMoves(options: HostRunOptions): Promise<void> {
  const ledger = await readLedger(options.host)
  if (ledger === undefined) return
  const components = listUnfinishedMoves(ledger)
  const isReturned = ({ component, target }: Op): boolean =>
    components.includes(component) && (target === 'service' || target === 'predecessor')
  const { run, ops } = await openRemoval(options, ledger)
  await journalRun(run, { command: 'return components whose move was interrupted' }, async () => {
    for (const op of ops.filter(isReturned)) await runRemovalOp(run, op)
  })
}
