import { expect } from 'vitest'
import {
  dialFromPod,
  probe,
  type ProbePod,
  listProbePods,
  createProbeWorkload,
} from '../../lab/bench/workload.ts'
import type { KubernetesVersion } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { runAsPlanned } from './dry-run.ts'
import { etcdctl } from './etcdctl.ts'
import { type HostSnapshot, takeHostSnapshot } from './host-snapshot.ts'
import { formatOp, readJournal, listDoneOps } from './journal.ts'
import { openKubectl } from './kubectl.ts'
import type { UpCluster } from './up-cluster.ts'

const never = new AbortController().signal

export async function expectNodesReady(cluster: UpCluster, kubernetes: KubernetesVersion): Promise<void> {
  const { items } = await cluster.api.get<NodeList>('/api/v1/nodes')
  const observed = items.map(({ metadata, status }) => [
    metadata.name,
    status.conditions.find(({ type }) => type === 'Ready')?.status,
    status.nodeInfo.kubeletVersion,
  ])
  expect(observed).toEqual(cluster.hosts.map(({ name }) => [name, 'True', kubernetes]))
}

export async function expectEtcdHealthy(cluster: UpCluster): Promise<void> {
  const [first] = cluster.hosts
  const controlPlanes = cluster.hosts.filter(({ name }) => name.startsWith('cp'))
  const text = await runScript(first, `${etcdctl} endpoint health --cluster 2>&1`)
  expect(text.trim().split('\n')).toHaveLength(controlPlanes.length)
  for (const line of text.trim().split('\n')) expect(line).toContain('is healthy')
}

export async function startPodOnEachNode(cluster: UpCluster): Promise<ProbePod[]> {
  await createProbeWorkload(cluster.api, never)
  return pollUntil(
    'a pod on each node',
    async () => {
      const found = await listProbePods(cluster.api)
      return found.length === cluster.hosts.length && found
    },
    { timeoutMs: 120_000 },
  )
}

export async function expectPodsReachEachOther(cluster: UpCluster, pods: readonly ProbePod[]): Promise<void> {
  for (const from of pods) {
    for (const to of pods.filter((pod) => pod !== from)) {
      // A pod may be Running before its server listens.
      const podName = await pollUntil(
        `${to.name} to answer ${from.name}`,
        async () => dialFromPod(cluster.api, from, to.address, probe.port),
        { timeoutMs: 90_000 },
      )
      expect(podName).toBe(to.name)
    }
  }
}

export async function expectServiceReachable(cluster: UpCluster, pods: readonly ProbePod[]): Promise<void> {
  const names = pods.map(({ name }) => name)
  for (const from of pods) {
    const podName = await pollUntil(
      `the service to answer ${from.name}`,
      async () => dialFromPod(cluster.api, from, probe.clusterIP, 80),
      { timeoutMs: 90_000 },
    )
    expect(names).toContain(podName)
  }
}

export async function expectKubectlReachesPods(
  cluster: UpCluster,
  kubernetes: KubernetesVersion,
  pods: readonly ProbePod[],
): Promise<void> {
  await using kubectl = await openKubectl(cluster, kubernetes)
  for (const { name } of pods) {
    const logs = await kubectl.run('logs', name)
    expect(`${logs.stdout}${logs.stderr}`).toContain('Started HTTP')
    expect((await kubectl.run('exec', name, '--', 'hostname')).stdout.trim()).toBe(name)
  }
}

export async function expectPlannedOpsInJournals(cluster: UpCluster): Promise<void> {
  for (const host of cluster.hosts) {
    const planned = (cluster.plan.ops[host.name] ?? []).map(formatOp)
    expect(planned.length).toBeGreaterThan(50)
    expect(listDoneOps(await readJournal(host)).toSorted(), host.name).toEqual(planned.toSorted())
  }
}

export async function expectRolesOfNodes(cluster: UpCluster): Promise<void> {
  const { items } = await cluster.api.get<NodeList>('/api/v1/nodes')
  for (const { metadata, spec } of items) {
    const isControlPlane = metadata.name.startsWith('cp')
    expect('node-role.kubernetes.io/control-plane' in metadata.labels, metadata.name).toBe(isControlPlane)
    const taints = (spec.taints ?? []).map(({ key }) => key)
    const isAlone = cluster.hosts.every(({ name }) => name.startsWith('cp'))
    expect(taints).toEqual(isControlPlane && !isAlone ? ['node-role.kubernetes.io/control-plane'] : [])
  }
}

export async function expectHostObjectsAndLeader(cluster: UpCluster): Promise<void> {
  const { items } = await cluster.api.get<HostList>('/apis/hyperkube.dev/v1/hosts')
  const observedHosts = items.map(({ metadata, spec }) => [metadata.name, spec.names.ip])
  expect(observedHosts).toEqual(cluster.hosts.map(({ name, address }) => [name, [address]]))
  const holder = await pollUntil(
    'a controller manager to lead',
    async () => {
      const { spec } = await cluster.api.get<Lease>(
        '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/hyperkube-controller-manager',
      )
      return spec.holderIdentity
    },
    { timeoutMs: 60_000 },
  )
  expect(holder).toMatch(/^cp\d_/)
}

export async function expectDriftFixed(cluster: UpCluster): Promise<void> {
  const [first] = cluster.hosts
  const before = await readStartTimes(first)
  // Pauses healing, because the agent would repair the drift before `plan` runs.
  await cluster.operator.must(0, 'heal', 'pause', first?.name ?? '', '--for', '10m')
  await runScript(
    first,
    `
    rm /etc/hyperkube/kubelet/kubeconfig
    echo '# hello' >> /etc/systemd/system/kube-scheduler.service
    systemctl stop kube-proxy
    echo hello > /etc/hyperkube/orphan
    chmod 644 /etc/hyperkube/kubelet/config.yaml
    cd /opt/hyperkube/kube-controller-manager-*
    sed 's/leader-elect/leader-erect/' kube-controller-manager > other
    chmod 755 other
    mv other kube-controller-manager
    `,
  )
  const planned = await cluster.hyperkube('plan', '--wide')
  expect(planned.code, planned.stderr).toBe(3)
  for (const change of [
    '+ file /etc/hyperkube/kubelet/kubeconfig',
    '~ service kube-scheduler.service',
    '▸ start service kube-proxy.service',
    '- file /etc/hyperkube/orphan',
    '~ file /etc/hyperkube/kubelet/config.yaml',
    '~ binary kube-controller-manager',
  ]) {
    expect(planned.stdout).toContain(change)
  }
  expect((await cluster.hyperkube('up', '--yes')).code).toBe(0)
  expect((await cluster.hyperkube('plan')).code).toBe(0)
  const after = await readStartTimes(first)
  for (const name of untouched) expect(after.get(name), name).toBe(before.get(name))
  await cluster.operator.must(0, 'heal', 'resume', first?.name ?? '')
}

/** The host that replaces cp3, and its state before it joined. */
export interface AddedHost {
  readonly host: Host
  readonly before: HostSnapshot
}

export async function expectResetLeavesNothing(
  cluster: UpCluster,
  added: AddedHost | undefined,
): Promise<void> {
  const remaining = cluster.hosts.filter(({ name }) => added === undefined || name !== 'cp3')
  // Kubelets with the systemd cgroup driver create slices for pods, which `reset` must remove. Lab hosts use
  // the cgroupfs driver, so the test creates such a slice.
  for (const host of remaining) await runScript(host, 'systemctl start kubepods-besteffort-pod1.slice')
  const all = [...cluster.hosts, ...(added === undefined ? [] : [added.host])]
  const { stdout } = await runAsPlanned(cluster, all, ['reset'])
  expect(stdout).toContain('lab is removed from')
  const before = new Map([
    ...cluster.before,
    ...(added === undefined ? [] : [[added.host.name, added.before] as const]),
  ])
  for (const host of all) {
    // Volumes belong to users, so `reset` keeps them.
    await runScript(host, 'rm -rf /var/lib/hyperkube-volumes')
    expect(await takeHostSnapshot(host), host.name).toEqual(before.get(host.name))
  }
}

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
    readonly spec: { readonly taints?: readonly { readonly key: string }[] }
    readonly status: {
      readonly conditions: readonly { readonly type: string; readonly status: string }[]
      readonly nodeInfo: { readonly kubeletVersion: string }
    }
  }[]
}

interface HostList {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly spec: { readonly names: { readonly ip: readonly string[] } }
  }[]
}

interface Lease {
  readonly spec: { readonly holderIdentity?: string }
}

/** Services that must not restart when `up` repairs the drift. */
const untouched = [
  ...['etcd', 'kube-apiserver', 'containerd', 'flanneld', 'kube-router'],
  ...['apiserver-proxy', 'hyperkube-agent', 'hyperkube-controller-manager'],
]

/** Reads the start times of the services in `untouched`. */
async function readStartTimes(host: Host | undefined): Promise<ReadonlyMap<string, string>> {
  const text = await runScript(
    host,
    untouched.map((name) => `systemctl show -p ExecMainStartTimestampMonotonic --value ${name}`).join('\n'),
  )
  const times = text.trim().split('\n')
  return new Map(untouched.map((name, index) => [name, times[index] ?? '']))
}

/** Runs a script on a host. Returns its standard output even if the script fails. */
async function runScript(host: Host | undefined, text: string): Promise<string> {
  if (host === undefined) throw new Error('there is no host')
  return (await host.script(text, { allowFailure: true })).stdout
}

/** Expects that a plan has nothing to do, and that status becomes healthy. */
export async function expectNothingToReport({ operator }: Pick<UpCluster, 'operator'>): Promise<void> {
  expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
  await pollUntil('a healthy status', async () => (await operator.hyperkube('status')).code === 0, {
    timeoutMs: 60_000,
    intervalMs: 1000,
  })
}
