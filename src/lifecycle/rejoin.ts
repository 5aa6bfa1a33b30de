import type { Claim } from '../contract/request.ts'
import { inRun } from './run-on-agent.ts'
import type { Membership } from './cluster-access.ts'
import type { Session } from './session.ts'
import { type Tell, toldStep } from './event-stream.ts'

export interface RejoinOptions {
  readonly membership: Pick<Membership, 'leaveEtcd'>
  readonly claim: Claim
  readonly tell: Tell
  readonly signal: AbortSignal
}

/**
 * Makes a host whose member of etcd is lost one that may join: the others forget the member, then the host does. In this
 * order, because a host that has forgotten must not be known as a member any more: it would vote as if it had never
 * promised anything. Bringing it back in is for whoever brings the cluster up afterwards.
 */
export async function makeReadyToJoin(session: Session, options: RejoinOptions): Promise<void> {
  const { membership, claim, tell, signal } = options
  const { host } = session
  const turns = [
    {
      step: 'forget',
      title: `the other members forget ${host}`,
      work: async () => membership.leaveEtcd(host),
    },
    {
      step: 'stop',
      title: `stop what is left of etcd on ${host}`,
      work: async () => inRun(session, tell, { type: 'stop-services', claim, components: ['etcd'] }),
    },
    {
      step: 'clear',
      title: `move its data aside`,
      work: async () => inRun(session, tell, { type: 'clear-etcd', claim }),
    },
  ]
  tell({
    type: 'steps-planned',
    steps: turns.map(({ step, title }) => ({ step, title, hosts: [host] })),
  })
  for (const { step, work } of turns) {
    signal.throwIfAborted()
    tell({ type: 'step-started', step }, { host })
    await toldStep(options, { step, host }, work)
  }
}
