import { expect } from 'vitest'
import { dialFromPod, probe, type ProbePod } from '../../lab/bench/workload.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import type { UpCluster } from './up-cluster.ts'

const podsPath = '/api/v1/namespaces/default/pods'
const policiesPath = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies'
const guarded = { app: 'guarded' }

/** Rejects every connection to guarded pods. */
export const denyIngress = buildPolicy('deny-ingress', { podSelector: { matchLabels: guarded } }, ['Ingress'])

/** Allows connections from the probe pods to guarded pods. */
const allowProbes = buildPolicy(
  'allow-probes',
  {
    podSelector: { matchLabels: guarded },
    ingress: [
      { from: [{ podSelector: { matchLabels: { app: probe.name } } }], ports: [{ port: probe.port }] },
    ],
  },
  ['Ingress'],
)

/** Rejects every connection from the probe pods. The API server still reaches them. */
export const denyEgress = buildPolicy('deny-egress', { podSelector: { matchLabels: { app: probe.name } } }, [
  'Egress',
])

function buildPolicy(name: string, spec: object, policyTypes: readonly string[]) {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name },
    spec: { ...spec, policyTypes },
  }
}

export async function applyPolicy(api: KubeApi, policy: typeof denyIngress): Promise<void> {
  await api.ensure(policiesPath, policy)
}

export async function removePolicy(api: KubeApi, { metadata }: typeof denyIngress): Promise<void> {
  await api.remove(`${policiesPath}/${metadata.name}`)
}

/** Starts a web server on a node, to which policies of this file apply, and waits until it serves. */
export async function startGuardedPod(
  { api }: Pick<UpCluster, 'api'>,
  node: string,
  sources: readonly ProbePod[],
): Promise<ProbePod> {
  const name = `guarded-${node}`
  await api.ensure(podsPath, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: guarded },
    spec: {
      nodeName: node,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'web',
          image: testImage,
          imagePullPolicy: 'IfNotPresent',
          args: ['netexec', `--http-port=${probe.port}`],
        },
      ],
    },
  })
  const address = await pollUntil(
    `${name} to have an address`,
    async () => (await api.get<{ status: { podIP?: string } }>(`${podsPath}/${name}`)).status.podIP,
    { timeoutMs: 60_000 },
  )
  const pod = { name, node, address }
  await waitForReach(api, sources, pod, true)
  return pod
}

/** Removes a guarded pod and waits until it is gone, so that the next one can have the same name. */
export async function removeGuardedPod(api: KubeApi, { name }: ProbePod): Promise<void> {
  await api.remove(`${podsPath}/${name}`)
  await pollUntil(
    `${name} to be gone`,
    async () => {
      const { items } = await api.get<{ items: unknown[] }>(
        `${podsPath}?fieldSelector=metadata.name%3D${name}`,
      )
      return items.length === 0
    },
    { timeoutMs: 60_000 },
  )
}

/** True if a connection from a pod to an address gets a response. */
export async function reaches(api: KubeApi, from: ProbePod, to: ProbePod): Promise<boolean> {
  return (await dialFromPod(api, from, to.address, probe.port)) === to.name
}

/**
 * Waits until all sources reach the target, or until none does. Returns the milliseconds until then. A refused
 * connection counts from its begin: an engine that drops packets, rather than rejecting them, keeps it waiting.
 */
export async function waitForReach(
  api: KubeApi,
  sources: readonly ProbePod[],
  target: ProbePod,
  expected: boolean,
): Promise<number> {
  const began = performance.now()
  const times = await Promise.all(
    sources.map(async (source) => {
      let dialed = began
      await pollUntil(
        `${source.node} ${expected ? 'to reach' : 'not to reach'} ${target.name}`,
        async () => {
          dialed = performance.now()
          return (await reaches(api, source, target)) === expected
        },
        { timeoutMs: 90_000, intervalMs: 50 },
      )
      return (expected ? performance.now() : dialed) - began
    }),
  )
  return Math.max(...times)
}

/** Expects that policies apply in both directions, to pods of the same node and of other nodes. */
export async function expectPoliciesEnforced(
  { api }: Pick<UpCluster, 'api'>,
  sources: readonly ProbePod[],
): Promise<void> {
  const node = sources.at(-1)?.node ?? ''
  const target = await startGuardedPod({ api }, node, sources)
  await applyPolicy(api, denyIngress)
  await waitForReach(api, sources, target, false)
  await applyPolicy(api, allowProbes)
  await waitForReach(api, sources, target, true)
  await removePolicy(api, allowProbes)
  await waitForReach(api, sources, target, false)
  await removePolicy(api, denyIngress)
  await waitForReach(api, sources, target, true)
  await applyPolicy(api, denyEgress)
  await waitForReach(api, sources, target, false)
  await removePolicy(api, denyEgress)
  await waitForReach(api, sources, target, true)
  await removeGuardedPod(api, target)
}

/** Expects that a killed kube-router leaves its rules in place, and runs again. */
export async function expectRulesSurviveKill(
  { api, hosts }: Pick<UpCluster, 'api' | 'hosts'>,
  sources: readonly ProbePod[],
): Promise<void> {
  const node = sources.at(-1)?.node ?? ''
  const host = hosts.find(({ name }) => name === node)
  if (host === undefined) throw new Error(`there is no host ${node}`)
  const target = await startGuardedPod({ api }, node, sources)
  await applyPolicy(api, denyIngress)
  await waitForReach(api, sources, target, false)
  const before = await readMainPid(host)
  await host.script(killKubeRouter)
  for (const source of sources) expect(await reaches(api, source, target), source.node).toBe(false)
  await pollUntil('kube-router to run again', async () => !['0', before].includes(await readMainPid(host)), {
    timeoutMs: 90_000,
    intervalMs: 200,
  })
  for (const source of sources) expect(await reaches(api, source, target), source.node).toBe(false)
  await removePolicy(api, denyIngress)
  await waitForReach(api, sources, target, true)
  await removeGuardedPod(api, target)
}

/**
 * Kills kube-router while it has no child. Hosts of the lab are containers with cgroup v1, whose systemd may miss the
 * end of an orphaned child, such as iptables-restore. It would then wait 90 seconds before it starts kube-router again.
 */
export const killKubeRouter = `pid=$(systemctl show -p MainPID --value kube-router)
while pgrep -P "$pid" >/dev/null; do :; done
kill -9 "$pid"`

export async function readMainPid(host: Host): Promise<string> {
  return (await host.exec(['systemctl', 'show', '-p', 'MainPID', '--value', 'kube-router'])).stdout.trim()
}
