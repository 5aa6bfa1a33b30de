import { setTimeout as sleep } from 'node:timers/promises'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { ProbeResult, TcpTarget } from '../../contract/network-probe.ts'
import { describe, HyperkubeError } from '../../kit/errors.ts'
import { settleAll } from '../../kit/settle-all.ts'
import type { Session } from '../session.ts'
import type { Tell } from '../event-stream.ts'
import type { TrialPods } from './smoke-test-pods.ts'

export interface VerifyScene {
  /** Of the nodes that shall show that they work. */
  readonly plans: readonly NodePlan[]
  readonly sessions: ReadonlyMap<string, Pick<Session, 'ask'>>
  readonly pods: TrialPods
  /** The address and port of a service that every node can reach: the API's own. */
  readonly service: { readonly address: string; readonly port: number }
  readonly tell: Tell
  readonly now: () => Date
  readonly signal: AbortSignal
  /** Milliseconds. */
  readonly within?: number
}

/** How many pods of other nodes a node looks for: enough to see a broken network, and not all of thousands. */
const peers = 3
/** Nothing listens there: that the pod's own kernel says so is the answer. */
const closedPort = 9

/**
 * Shows that a cluster does what it is for: a pod on every node, reached from other nodes, and a service that answers. The
 * pods are of the one image that every node has, so that nothing is pulled for it.
 */
export async function verify(scene: VerifyScene): Promise<void> {
  const { pods } = scene
  try {
    await attempt(scene, 'a pod on every node', async () => podsLack(scene))
    await attempt(scene, 'pods and services to be reached from every node', async () => reachLacks(scene))
  } finally {
    // Also after an interruption; whatever stays behind is taken over by the next run.
    await pods.remove().catch(() => undefined)
  }
}

/** Looks again and again, and says meanwhile what is lacking. */
async function attempt(
  { tell, now, signal, within = 120_000 }: VerifyScene,
  what: string,
  look: () => Promise<string | undefined>,
): Promise<void> {
  const since = now()
  let told = ''
  for (;;) {
    const lack = await look().catch(describe)
    if (lack === undefined) return
    signal.throwIfAborted()
    if (lack !== told) tell({ type: 'waiting', for: `${what}: ${lack}`, since: since.toISOString() })
    told = lack
    if (now().getTime() - since.getTime() > within) {
      throw new HyperkubeError('VERIFY_FAILED', `${what}: ${lack}`, {
        hint: 'all services run, so the cause lies between them; mend it, then: hyperkube up',
      })
    }
    await sleep(200, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

async function podsLack({ plans, pods }: VerifyScene): Promise<string | undefined> {
  const before = await pods.look()
  const missing = plans.filter(({ node }) => {
    const pod = before.get(node?.name ?? '')
    return pod === undefined || (!pod.ready && pod.ended === true)
  })
  // A namespace takes pods only once its controllers have prepared it.
  await settleAll(missing.map(async (plan) => pods.put(plan.node?.name ?? '', imageOf(plan))))
  const seen = new Map([...(await pods.look()), ...[...before].filter(([, pod]) => !pod.ready && pod.ended)])
  const lacks = plans.flatMap(({ node, host }) => {
    const pod = seen.get(node?.name ?? '')
    if (pod === undefined) return [`${host}: none yet`]
    return pod.ready ? [] : [`${host}: ${pod.reason}`]
  })
  return summary(lacks)
}

async function reachLacks({ plans, sessions, pods, service }: VerifyScene): Promise<string | undefined> {
  const seen = await pods.look()
  const addressOf = (plan: NodePlan | undefined): string | undefined => {
    // Windows says nothing of a port that is closed: a pod there cannot be told from one that is away.
    if (plan?.os === 'windows') return undefined
    const pod = seen.get(plan?.node?.name ?? '')
    return pod?.ready === true ? pod.address : undefined
  }
  const lacks = await settleAll(
    plans.map(async ({ host, os }, index) => {
      const session = sessions.get(host)
      // The agent of a Windows host looks for peers in its own way.
      if (session === undefined || os === 'windows') return []
      const others = Array.from({ length: Math.min(peers, plans.length - 1) }, (_, step) => {
        const plan = plans[(index + step + 1) % plans.length]
        return { name: `the pod on ${plan?.host}`, address: addressOf(plan), port: closedPort }
      })
      const goals = [
        { name: 'the pod on it', address: addressOf(plans[index]), port: closedPort },
        ...others,
        { name: 'the service of the API', ...service },
      ].flatMap(({ address, ...rest }) => (address === undefined ? [] : [{ address, ...rest }]))
      const targets = goals.map(({ address, port }): TcpTarget => ({ protocol: 'tcp', address, port }))
      const { results } = await session.ask({ type: 'probe', targets }, 'probed')
      return results.flatMap((result, at) => {
        const goal = goals[at]
        return goal === undefined || isReached(result, goal.port)
          ? []
          : [`${host} → ${goal.name}: ${result.outcome}`]
      })
    }),
  )
  return summary(lacks.flat())
}

/** A closed port of a pod says no, which only the pod's own kernel can do once packets travel both ways. */
function isReached({ outcome }: ProbeResult, port: number): boolean {
  return outcome === 'ok' || (port === closedPort && outcome === 'refused')
}

function imageOf({ components }: NodePlan): string {
  return components.flatMap(({ images }) => images)[0] ?? ''
}

function summary([first, ...others]: readonly string[]): string | undefined {
  return others.length === 0 ? first : `${first}; and ${others.length} more`
}
