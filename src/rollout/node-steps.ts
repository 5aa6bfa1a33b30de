import type { Stage } from '../contract/stage.ts'
import { type Host, isDisturbed, isTouched, isWorker, namesOf } from './host.ts'
import type { Scene } from './cluster-state.ts'
import { type Gate, type Step, step } from './step.ts'

/** Kubelets and the network. In a cluster that runs both go in one step, so that a host is disturbed once. */
export function nodeSteps(scene: Scene): Step[] {
  return scene.birth.nodes ? born(scene) : [...joined(scene), ...changed(scene)]
}

function born({ answering }: Scene): Step[] {
  return (['node', 'network'] as const).flatMap((stage) => {
    const hosts = answering.filter((host) => host.node && isTouched(host, stage))
    if (hosts.length === 0) return []
    return [step({ hosts: namesOf(hosts), stage, after: stage === 'network' ? bornGates(hosts) : [] })]
  })
}

/** Without a network no node is ready, and where ours is not wanted nobody can have brought another one yet. */
function bornGates(hosts: readonly Host[]): Gate[] {
  const ours = namesOf(hosts.filter(({ network }) => network))
  return [
    { kind: 'network-ready', hosts: namesOf(hosts) },
    ...(ours.length === 0 ? [] : [{ kind: 'nodes-ready', hosts: ours } as const]),
  ]
}

/** New nodes take nothing away, and give room to the pods that will be moved. */
function joined({ answering }: Scene): Step[] {
  return visit(answering.filter(({ node, live }) => node && !live.node).filter(isVisited))
}

function changed({ answering, mayBeAway, workersAway }: Scene): Step[] {
  const turns = answering.filter(({ live }) => live.node).filter(isVisited)
  const workers = turns.filter(isWorker)
  const room = mayBeAway - workersAway.length
  return [
    ...turns.filter((host) => !isWorker(host)).flatMap((host) => visit([host])),
    // Where nothing restarts nobody is away.
    ...visit(workers.filter((host) => !isLoud(host))),
    ...batches(
      workers.filter((host) => isLoud(host) && !host.drain),
      room,
    ).flatMap(visit),
    ...batches(
      workers.filter(({ drain }) => drain),
      room,
    ).flatMap(visit),
  ]
}

/** Whether a node may be away for a while. */
export function isLoud(host: Host): boolean {
  return host.live.node && (host.drain || isDisturbed(host, ...stages))
}

const stages: readonly Stage[] = ['node', 'network']

function isVisited(host: Host): boolean {
  return isTouched(host, ...stages)
}

function visit(hosts: readonly Host[]): Step[] {
  if (hosts.length === 0) return []
  const names = namesOf(hosts)
  const touched = stages.filter((stage) => hosts.some((host) => isTouched(host, stage)))
  const network = touched.includes('network')
  return [
    step({
      hosts: names,
      stage: network ? 'network' : 'node',
      stages: touched,
      after: [
        ...(network ? [{ kind: 'network-ready', hosts: names } as const] : []),
        { kind: 'nodes-ready', hosts: names },
      ],
      drain: hosts.some(({ drain }) => drain),
      disruptive: hosts.some(isLoud),
    }),
  ]
}

function batches(hosts: readonly Host[], size: number): Host[][] {
  if (size < 1) return []
  const count = Math.ceil(hosts.length / size)
  return Array.from({ length: count }, (_, index) => hosts.slice(index * size, (index + 1) * size))
}
