import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  dialFromPod,
  probe,
  type ProbePod,
  listProbePods,
  createProbeWorkload,
} from '../../lab/bench/workload.ts'
import { conformanceParts, type KubernetesVersion } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { pollUntil } from '../../src/kit/poll-until.ts'
import { addonSuite } from './addon-suite.ts'
import { conformanceSuite } from './conformance-suite.ts'
import { drainSuite } from './drain-suite.ts'
import { runAsPlanned } from './dry-run.ts'
import { etcdctl } from './etcdctl.ts'
import { healFewSuite } from './heal-few-suite.ts'
import { takeHostSnapshot } from './host-snapshot.ts'
import { measureIdleCost } from './idle-cost.ts'
import { formatOp, readJournal, listDoneOps } from './journal.ts'
import { openKubectl } from './kubectl.ts'
import { openFreshLab } from './lab.ts'
import { replaceSuite, upgradeSuite } from './life-suite.ts'
import { findLeaks, listSecretTraces } from './secrets.ts'
import type { Operator } from './operator.ts'
import { startDnsServer } from './test-dns-server.ts'
import { snapshotSuite } from './snapshot-suite.ts'
import { type UpCluster, createUpCluster } from './up-cluster.ts'

const never = new AbortController().signal

export interface UpSuiteOptions {
  readonly addons?: boolean
  /**
   * Also tests backups, drains, an upgrade to this version, and a replaced control plane. Requires 3+2 hosts.
   */
  readonly upgradeTo?: KubernetesVersion
  /** Also runs upstream conformance tests, which need DNS. */
  readonly conformance?: boolean
  /** Also injects faults that agents heal. Requires 3+2 hosts. */
  readonly heals?: boolean
  /** Also waits until a host is idle and measures its resource use. */
  readonly idle?: boolean
}

/** Tests a cluster from `hyperkube up` to `hyperkube reset`. */
export function upSuite(shape: string, kubernetes: KubernetesVersion, options: UpSuiteOptions = {}): void {
  describe(`hyperkube up, ${shape}, Kubernetes ${kubernetes}`, () => {
    defineTests(shape, kubernetes, options)
  })
}

function defineTests(
  shape: string,
  kubernetes: KubernetesVersion,
  { addons = false, conformance = false, heals = false, idle = false, upgradeTo }: UpSuiteOptions,
): void {
  let lab: Lab
  let cluster: UpCluster
  let pods: ProbePod[]
  let outsideNames: AsyncDisposable | undefined

  beforeAll(async () => {
    lab = await openFreshLab('up')
    const prepare = async ({ edit }: Operator): Promise<void> => {
      if (!addons) return
      outsideNames = await startDnsServer(lab.gateway)
      await edit((document) => document.setIn(['spec', 'dns', 'forward'], [lab.gateway]))
    }
    const parts = conformance ? { parts: conformanceParts } : {}
    cluster = await createUpCluster(lab, shape, kubernetes.slice(1), { addons, prepare, ...parts })
  }, 900_000)
  afterAll(async () => {
    try {
      await cluster.close()
    } finally {
      await outsideNames?.[Symbol.asyncDispose]()
      await lab.down()
    }
  })

  test('all nodes are Ready and run this Kubernetes', async () => {
    const { items } = await cluster.api.get<NodeList>('/api/v1/nodes')
    const observed = items.map(({ metadata, status }) => [
      metadata.name,
      status.conditions.find(({ type }) => type === 'Ready')?.status,
      status.nodeInfo.kubeletVersion,
    ])
    expect(observed).toEqual(cluster.hosts.map(({ name }) => [name, 'True', kubernetes]))
  })

  test('every member of etcd is healthy', async () => {
    const [first] = cluster.hosts
    const controlPlanes = cluster.hosts.filter(({ name }) => name.startsWith('cp'))
    const text = await runScript(first, `${etcdctl} endpoint health --cluster 2>&1`)
    expect(text.trim().split('\n')).toHaveLength(controlPlanes.length)
    for (const line of text.trim().split('\n')) expect(line).toContain('is healthy')
  })

  test('a pod runs on each node, with an image that was pulled; pods reach each other across hosts', async () => {
    await createProbeWorkload(cluster.api, never)
    pods = await pollUntil(
      'a pod on each node',
      async () => {
        const found = await listProbePods(cluster.api)
        return found.length === cluster.hosts.length && found
      },
      { timeoutMs: 120_000 },
    )
    for (const from of pods) {
      for (const to of pods.filter((pod) => pod !== from)) {
        // A pod may be Running before its server listens.
        const podName = await pollUntil(
          `${to.name} to answer ${from.name}`,
          async () => dialFromPod(cluster.api, from, to.address, probe.port),
          { timeoutMs: 30_000 },
        )
        expect(podName).toBe(to.name)
      }
    }
  })

  test('a service is reachable from every pod', async () => {
    const names = pods.map(({ name }) => name)
    for (const from of pods) {
      const podName = await pollUntil(
        `the service to answer ${from.name}`,
        async () => dialFromPod(cluster.api, from, probe.clusterIP, 80),
        { timeoutMs: 30_000 },
      )
      expect(names).toContain(podName)
    }
  })

  test('kubectl reads logs and runs programs, through kubelets whose certificates the API server verifies', async () => {
    await using kubectl = await openKubectl(cluster, kubernetes)
    for (const { name } of pods) {
      const logs = await kubectl.run('logs', name)
      expect(`${logs.stdout}${logs.stderr}`).toContain('Started HTTP')
      expect((await kubectl.run('exec', name, '--', 'hostname')).stdout.trim()).toBe(name)
    }
  })

  if (addons) addonSuite(() => cluster, kubernetes)

  test('the journals of the hosts contain exactly the planned ops', async () => {
    for (const host of cluster.hosts) {
      const planned = (cluster.plan.ops[host.name] ?? []).map(formatOp)
      expect(planned.length).toBeGreaterThan(50)
      expect(listDoneOps(await readJournal(host)).toSorted(), host.name).toEqual(planned.toSorted())
    }
  })

  test('nodes have their role labels and taints, which kubelets may not set', async () => {
    const { items } = await cluster.api.get<NodeList>('/api/v1/nodes')
    for (const { metadata, spec } of items) {
      const isControlPlane = metadata.name.startsWith('cp')
      expect('node-role.kubernetes.io/control-plane' in metadata.labels, metadata.name).toBe(isControlPlane)
      const taints = (spec.taints ?? []).map(({ key }) => key)
      const isAlone = cluster.hosts.every(({ name }) => name.startsWith('cp'))
      expect(taints).toEqual(isControlPlane && !isAlone ? ['node-role.kubernetes.io/control-plane'] : [])
    }
  })

  test('every host has a Host object, and one controller manager leads', async () => {
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
  })

  test('status reports a healthy cluster', async () => {
    const { code, stdout } = await cluster.hyperkube('status')
    const amount = cluster.hosts.length
    expect(code, stdout).toBe(0)
    expect(stdout).toContain(`${amount} of ${amount} hosts reachable, ${amount} of ${amount} nodes ready`)
  })

  if (idle) defineIdleTest(() => cluster.hosts.at(-1))

  test('a second up has nothing to do', async () => {
    const began = performance.now()
    const { code, stderr } = await cluster.hyperkube('up', '--yes')
    process.stderr.write(`a second up: ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
    expect(code).toBe(0)
    expect(stderr).toContain('nothing to do')
  })

  test('drift is shown by plan and fixed by up, and nothing else is changed', async () => {
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
      '~ program kube-controller-manager',
    ]) {
      expect(planned.stdout).toContain(change)
    }
    expect((await cluster.hyperkube('up', '--yes')).code).toBe(0)
    expect((await cluster.hyperkube('plan')).code).toBe(0)
    const after = await readStartTimes(first)
    for (const name of untouched) expect(after.get(name), name).toBe(before.get(name))
    await cluster.operator.must(0, 'heal', 'resume', first?.name ?? '')
  })

  if (heals) healFewSuite(() => cluster)
  if (upgradeTo !== undefined) {
    snapshotSuite(() => cluster)
    drainSuite(() => cluster, kubernetes)
    upgradeSuite(() => cluster, upgradeTo)
  }
  if (conformance) conformanceSuite(() => cluster)
  const readAddedHost =
    upgradeTo === undefined
      ? undefined
      : replaceSuite(
          () => cluster,
          { name: 'cp3', by: 'cp4' },
          async () => {
            const [host] = await lab.up(['cp4'])
            if (host === undefined) throw new Error('there is no cp4')
            return host
          },
        )

  test('no secret is in the output, nor in a wrong place on a host', async () => {
    const traces = listSecretTraces(cluster.identity)
    expect(traces.length).toBeGreaterThan(15)
    const output = cluster.firstUp.stderr + cluster.firstUp.stdout + (await readAllFiles(cluster.directory))
    expect(traces.filter((trace) => output.includes(trace))).toEqual([])
    for (const host of cluster.hosts) expect(await findLeaks(host, traces), host.name).toEqual([])
  })

  test('reset leaves every host as it was', async () => {
    const added = readAddedHost?.()
    const remaining = cluster.hosts.filter(({ name }) => added === undefined || name !== 'cp3')
    // Kubelets with the systemd cgroup driver create slices for pods. Lab hosts use the other driver, so the
    // test creates a slice.
    for (const host of remaining) await runScript(host, 'systemctl start kubepods-besteffort-pod1.slice')
    const all = [...cluster.hosts, ...(added === undefined ? [] : [added.host])]
    const { stdout } = await runAsPlanned(cluster, all, ['reset'])
    expect(stdout).toContain('nothing of lab is left on')
    const before = new Map([
      ...cluster.before,
      ...(added === undefined ? [] : [[added.host.name, added.before] as const]),
    ])
    for (const host of all) {
      // Volumes belong to users, so `reset` keeps them.
      await runScript(host, 'rm -rf /var/lib/hyperkube-volumes')
      expect(await takeHostSnapshot(host), host.name).toEqual(before.get(host.name))
    }
  })
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

async function runScript(host: Host | undefined, text: string): Promise<string> {
  if (host === undefined) throw new Error('there is no host')
  return (await host.script(text, { allowFailure: true })).stdout
}

/** Services that the test does not change. */
const untouched = [
  ...['etcd', 'kube-apiserver', 'containerd', 'flanneld'],
  ...['apiserver-proxy', 'hyperkube-agent', 'hyperkube-controller-manager'],
]

/** Reads the start times of these services. */
async function readStartTimes(host: Host | undefined): Promise<ReadonlyMap<string, string>> {
  const text = await runScript(
    host,
    untouched.map((name) => `systemctl show -p ExecMainStartTimestampMonotonic --value ${name}`).join('\n'),
  )
  const times = text.trim().split('\n')
  return new Map(untouched.map((name, index) => [name, times[index] ?? '']))
}

/** Reads all files that commands left in the operator's directory. */
async function readAllFiles(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return (
    await Promise.all(files.map(async ({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
  ).join('\n')
}

function defineIdleTest(lastHost: () => Host | undefined): void {
  const testOptions = { timeout: 240_000 }
  test(
    'agent and proxy of a host with nothing to do take less than 140 MB and 2 % of a core',
    testOptions,
    async () => {
      const last = lastHost()
      if (last === undefined) throw new Error('there is no host')
      // The host needs a while to become idle.
      const { pss, cpuShare } = await pollUntil(
        'the host to come to rest',
        async () => {
          const cost = await measureIdleCost(last)
          return cost.cpuShare < 0.02 && cost
        },
        { timeoutMs: 200_000 },
      )
      process.stderr.write(`idle: ${(pss / 1e6).toFixed(0)} MB, ${(cpuShare * 100).toFixed(2)} % of a core\n`)
      expect(pss).toBeLessThan(140e6)
      expect(cpuShare).toBeLessThan(0.02)
    },
  )
}
