import type { NetworkProbeResult, TcpTarget } from '../../contract/network-probe.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { formatError, HyperkubeError } from '../../kit/errors.ts'
import { mapWithConcurrency, settleAll } from '../../kit/concurrency.ts'
import { pollWithProgress } from '../../kit/poll.ts'
import type { EmitEvent } from '../agents/event-stream.ts'
import type { Session } from '../agents/session.ts'
import { maxConcurrentPods, type SmokeTestPods } from './smoke-test-pods.ts'

export interface SmokeTestOptions {
  /** Plans of the nodes to test. */
  readonly plans: readonly NodePlan[]
  readonly sessions: ReadonlyMap<string, Pick<Session, 'request'>>
  readonly pods: SmokeTestPods
  /** Address and port of a service that every node can reach: the API service. */
  readonly service: { readonly address: string; readonly port: number }
  readonly emit: EmitEvent
  readonly now: () => Date
  readonly signal: AbortSignal
  readonly timeoutMs?: number
}

/**
 * Maximum number of peer pods that each node probes: enough to detect a broken network without thousands of
 * probes.
 */
const maxPeers = 3
/** Port on which no process of the pod listens. A refused connection proves that the pod is reachable. */
const closedPort = 9

/**
 * Proves that a cluster works: a pod runs on every node, other nodes reach it, and a service is reachable.
 * The pods use an image that every node already has, so nothing is pulled.
 */
export async function runSmokeTest(options: SmokeTestOptions): Promise<void> {
  const { pods } = options
  try {
    await waitUntil(options, 'a pod on every node', async () => findPodProblem(options))
    await waitUntil(options, 'pods and services reachable from every node', async () =>
      findReachProblem(options),
    )
  } finally {
    // Pods are removed even after an interrupt. If that fails, the next run uses the remaining pods.
    await pods.remove().catch(() => undefined)
  }
}

/** Polls until `findProblem` returns undefined. Emits the current problem while it waits. */
async function waitUntil(
  { emit, now, signal, timeoutMs = 120_000 }: SmokeTestOptions,
  condition: string,
  findProblem: () => Promise<string | undefined>,
): Promise<void> {
  await pollWithProgress(async () => findProblem().catch(formatError), {
    report: (problem, since) => emit({ type: 'waiting', for: `${condition}: ${problem}`, since }),
    toTimeoutError: (problem) =>
      new HyperkubeError('SMOKE_TEST_FAILED', `${condition}: ${problem}`, {
        hint: 'all services run; find the cause: hyperkube doctor; then: hyperkube up',
      }),
    now,
    deadline: now().getTime() + timeoutMs,
    intervalMs: 200,
    signal,
  })
}

async function findPodProblem({ plans, pods }: SmokeTestOptions): Promise<string | undefined> {
  const podsBefore = await pods.list()
  const missing = plans.filter(({ node }) => {
    const pod = podsBefore.get(node?.name ?? '')
    return pod === undefined || (!pod.ready && pod.ended === true)
  })
  // Creation may fail until the controllers have prepared the namespace, so the caller retries.
  await mapWithConcurrency(maxConcurrentPods, missing, async (plan) =>
    pods.create(plan.node?.name ?? '', findImage(plan)),
  )
  const podsByNode = new Map([
    ...(await pods.list()),
    ...[...podsBefore].filter(([, pod]) => !pod.ready && pod.ended),
  ])
  const problems = plans.flatMap(({ node, host }) => {
    const pod = podsByNode.get(node?.name ?? '')
    if (pod === undefined) return [`${host}: no pod yet`]
    return pod.ready ? [] : [`${host}: ${pod.reason}`]
  })
  return summarize(problems)
}

async function findReachProblem({
  plans,
  sessions,
  pods,
  service,
}: SmokeTestOptions): Promise<string | undefined> {
  const podsByNode = await pods.list()
  const findAddresses = (plan: NodePlan | undefined): readonly string[] => {
    // Windows does not answer on a closed port, so reachable and unreachable pods cannot be distinguished.
    if (plan?.os === 'windows') return []
    const pod = podsByNode.get(plan?.node?.name ?? '')
    return pod?.ready === true ? pod.addresses : []
  }
  const problems = await settleAll(
    plans.map(async ({ host, os }, index) => {
      const session = sessions.get(host)
      // The agent of a Windows host cannot run these probes, so such hosts are left out.
      if (session === undefined || os === 'windows') return []
      const others = Array.from({ length: Math.min(maxPeers, plans.length - 1) }, (_, step) => {
        const plan = plans[(index + step + 1) % plans.length]
        return { name: `the pod on ${plan?.host}`, addresses: findAddresses(plan), port: closedPort }
      })
      const destinations = [
        { name: 'its own pod', addresses: findAddresses(plans[index]), port: closedPort },
        ...others,
        { name: 'the service of the API', addresses: [service.address], port: service.port },
      ].flatMap(({ addresses, ...rest }) => addresses.map((address) => ({ address, ...rest })))
      const targets = destinations.map(({ address, port }): TcpTarget => ({ protocol: 'tcp', address, port }))
      const { results } = await session.request({ type: 'probe', targets }, 'probed')
      return results.flatMap((result, position) => {
        const destination = destinations[position]
        return destination === undefined || isReached(result, destination.port)
          ? []
          : [`${host} → ${destination.name} at ${destination.address}: ${result.outcome}`]
      })
    }),
  )
  return summarize(problems.flat())
}

/**
 * True if the destination answered. A refusal by the closed port counts too, because it comes from the
 * network stack of the pod.
 */
function isReached({ outcome }: NetworkProbeResult, port: number): boolean {
  return outcome === 'ok' || (port === closedPort && outcome === 'refused')
}

function findImage({ components }: NodePlan): string {
  return components.flatMap(({ images }) => images)[0] ?? ''
}

function summarize([first, ...others]: readonly string[]): string | undefined {
  return others.length === 0 ? first : `${first}; and ${others.length} more`
}
