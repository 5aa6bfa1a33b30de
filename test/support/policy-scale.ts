import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { mapWithConcurrency } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'

const namespaceCount = 10
/** Pods that really run, all on one node. A kubelet accepts 110 pods by default. */
export const runningPods = 90
const addressNode = 'addresses'
const concurrency = 8

/** A program that enforces NetworkPolicy, and how its suite finds its process and its rules. */
export interface PolicyEngine {
  readonly name: string
  /** Shell command that prints the process id. */
  readonly findPid: string
  /** Shell command that prints the number of rules, and that of sets. */
  readonly countRules: string
}

export const kubeRouter: PolicyEngine = {
  name: 'kube-router',
  findPid: 'systemctl show -P MainPID kube-router',
  countRules: `iptables-save | grep -c -- '^-A KUBE-'; ipset list -name | wc -l`,
}

export const felix: PolicyEngine = {
  name: 'felix',
  findPid: "pgrep -o -f 'calico-node -felix'",
  // Rules are the lines of chains, apart from their declarations.
  countRules: `nft list table ip calico > /tmp/rules
awk '/^\tchain/ { inside = 1; next } /^\t}/ { inside = 0 } inside && !/type .* hook/' /tmp/rules | wc -l
grep -cE '^\t(set|map) ' /tmp/rules
rm /tmp/rules`,
}

/** Creates the namespaces, and a node without a kubelet for the pods that exist only as objects. */
export async function prepareScale(api: KubeApi): Promise<void> {
  for (let index = 0; index < namespaceCount; index++)
    await api.ensure('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: `scale-${index}` },
    })
  await api.ensure('/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: addressNode },
    spec: { unschedulable: true },
  })
}

/** Creates the pods and policies with numbers from `from` to below `to`, one policy for each pod. */
export async function createPodsAndPolicies(
  api: KubeApi,
  node: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index)
  await mapWithConcurrency(concurrency, numbers, async (number) => {
    if (number < runningPods) await createRunningPod(api, node, number)
    else await createAddress(api, number)
  })
  await mapWithConcurrency(concurrency, numbers, async (number) =>
    api.ensure(
      `/apis/networking.k8s.io/v1/namespaces/${namespaceOf(number)}/networkpolicies`,
      buildPolicy(number),
    ),
  )
  await pollUntil(
    'the pods of the node to run',
    async () => countRunning(api, node, Math.min(to, runningPods)),
    {
      timeoutMs: 600_000,
      intervalMs: 1000,
    },
  )
}

function namespaceOf(number: number): string {
  return `scale-${number % namespaceCount}`
}

function labelsOf(number: number): Readonly<Record<string, string>> {
  return { app: `app-${Math.floor(number / namespaceCount)}` }
}

function buildPod(number: number, node: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${number}`, labels: labelsOf(number) },
    spec: {
      nodeName: node,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      tolerations: [{ operator: 'Exists' }],
      containers: [{ name: 'pause', image: testImage, imagePullPolicy: 'IfNotPresent', args: ['pause'] }],
    },
  }
}

async function createRunningPod(api: KubeApi, node: string, number: number): Promise<void> {
  await api.ensure(`/api/v1/namespaces/${namespaceOf(number)}/pods`, buildPod(number, node))
}

/** Creates a pod that exists only as an object with an address. For kube-router it is a pod of another node. */
async function createAddress(api: KubeApi, number: number): Promise<void> {
  const path = `/api/v1/namespaces/${namespaceOf(number)}/pods`
  const pod = await api.createAndRead<object>(path, buildPod(number, addressNode))
  const podIP = `10.250.${Math.floor(number / 250)}.${1 + (number % 250)}`
  const conditions = [{ type: 'Ready', status: 'True' }]
  await api.replace(`${path}/pod-${number}/status`, {
    ...pod,
    status: { phase: 'Running', conditions, podIP, podIPs: [{ ip: podIP }], hostIP: '10.249.0.1' },
  })
}

/** Allows connections to one app from the next app, in all namespaces. */
function buildPolicy(number: number): object {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: `policy-${number}` },
    spec: {
      podSelector: { matchLabels: labelsOf(number) },
      policyTypes: ['Ingress'],
      ingress: [
        {
          from: [{ namespaceSelector: {}, podSelector: { matchLabels: labelsOf(number + namespaceCount) } }],
          ports: [{ port: 8080 }],
        },
      ],
    },
  }
}

async function countRunning(api: KubeApi, node: string, expected: number): Promise<boolean> {
  const { items } = await api.get<{
    items: { metadata: { name: string; namespace: string } }[]
  }>(`/api/v1/pods?fieldSelector=spec.nodeName%3D${node},status.phase%3DRunning`)
  return items.filter(({ metadata }) => metadata.namespace.startsWith('scale-')).length >= expected
}

/** Counts the rules and sets of addresses on a host. */
export async function countRules(
  host: Host,
  { countRules: script }: PolicyEngine,
): Promise<{ readonly rules: number; readonly sets: number }> {
  const { stdout } = await host.script(script)
  const [rules = 0, sets = 0] = stdout.trim().split('\n').map(Number)
  return { rules, sets }
}
