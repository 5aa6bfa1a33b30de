import type { Leaving } from './input.ts'
import { type Scene, stayingMembers } from './cluster-state.ts'
import type { Gate, LeaveStep } from './step.ts'

/** Those that do not answer go first: while a member of etcd is away, nobody can join in its place. */
export function lostSteps({ leaving }: Scene): LeaveStep[] {
  return leaving.filter(({ answers }) => !answers).map((host) => leave(host, []))
}

/** Those that answer go last and one by one, once whoever takes their place is there. */
export function leaveSteps(scene: Scene): LeaveStep[] {
  const { leaving } = scene
  const staying = stayingMembers(scene)
  const well: readonly Gate[] = staying.length === 0 ? [] : [{ kind: 'etcd-healthy', members: staying }]
  const workersFirst = leaving.toSorted((a, b) => weight(a) - weight(b))
  return workersFirst
    .filter(({ answers }) => answers)
    .map((host) => leave(host, host.live.member ? well : []))
}

function weight({ live }: Leaving): number {
  return Number(live.controlPlane) + Number(live.member)
}

function leave({ host, answers, live }: Leaving, before: readonly Gate[]): LeaveStep {
  return {
    id: `leave/${host}`,
    what: 'leave',
    hosts: [host],
    host,
    live,
    lost: !answers,
    before,
    after: [],
    drain: live.node && answers,
    disruptive: true,
  }
}
