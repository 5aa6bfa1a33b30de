import type { Claim } from '../../contract/request.ts'
import { runOnAgent } from '../agents/run-on-agent.ts'
import type { Session } from '../agents/session.ts'
import { type EmitEvent, reportStep } from '../agents/event-stream.ts'

interface RejoinOptions {
  readonly removeEtcdMember: (host: string) => Promise<void>
  readonly claim: Claim
  readonly emit: EmitEvent
  readonly signal: AbortSignal
}

/**
 * Prepares a host with a lost etcd member to join again: removes the member, then moves the data of the host
 * aside. In the other order, a host without data would still be a member and vote without its log. A later
 * `up` adds the host again.
 */
export async function prepareEtcdRejoin(session: Session, options: RejoinOptions): Promise<void> {
  const { removeEtcdMember, claim, emit, signal } = options
  const { host } = session
  const tasks = [
    {
      step: 'forget',
      title: `remove ${host} from etcd`,
      work: async () => removeEtcdMember(host),
    },
    {
      step: 'stop',
      title: `stop etcd on ${host}`,
      work: async () => runOnAgent(session, emit, { type: 'stop-services', claim, components: ['etcd'] }),
    },
    {
      step: 'clear',
      title: `move the etcd data of ${host} aside`,
      work: async () => runOnAgent(session, emit, { type: 'wipe-etcd', claim }),
    },
  ]
  emit({
    type: 'steps-planned',
    steps: tasks.map(({ step, title }) => ({ step, title, hosts: [host] })),
  })
  for (const { step, work } of tasks) {
    signal.throwIfAborted()
    emit({ type: 'step-started', step }, { host })
    await reportStep(options, { step, host }, work)
  }
}
