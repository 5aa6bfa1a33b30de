import type { Claim } from '../contract/request.ts'
import type { LeaveStep } from '../rollout/step.ts'
import { inRun } from './run-on-agent.ts'
import type { Membership, Patience } from './cluster-access.ts'
import { resetHost } from './reset.ts'
import type { Session } from './session.ts'
import type { Tell } from './event-stream.ts'

export interface LeaveScene {
  readonly membership: Membership
  /** Undefined when the host is lost. */
  readonly session: Session | undefined
  readonly claim: Claim
  /** The host need not be told of the claim any more. */
  readonly left: (host: string) => void
  readonly tell: Tell
  readonly patience: Patience
}

/**
 * A host gives up what it is, in an order in which nobody misses it: its pods go elsewhere, its API server ends gracefully,
 * etcd counts on it no more, and only then does everything of ours go off it. Each part finds what was done of it before.
 */
export async function leave(step: LeaveStep, scene: LeaveScene): Promise<void> {
  const { host, live } = step
  const { membership, session, claim, left, tell, patience } = scene
  const lost = session === undefined
  if (live.node) await membership.drain(host, { ...patience, lost })
  if (session !== undefined && live.controlPlane) await stopServing(session, claim, tell)
  if (live.member) await membership.leaveEtcd(host)
  if (session !== undefined) await resetHost(session, claim, tell)
  left(host)
  // Last: as long as it is there, whoever comes after a run that was cut knows that the host has to leave.
  if (live.node) await membership.removeNode(host)
}

/** All but etcd: the others still count on its member. */
const components = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'hyperkube-controller-manager',
  'apiserver-proxy',
  'containerd',
  'kubelet',
  'kube-proxy',
  'flanneld',
]

/** Without its member of etcd an API server could answer nobody. */
async function stopServing(session: Session, claim: Claim, tell: Tell): Promise<void> {
  await inRun(session, tell, { type: 'stop-services', claim, components })
}
