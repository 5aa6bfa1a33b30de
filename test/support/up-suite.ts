import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dial, probe, type ProbePod, probePods, probeWorkload } from '../../lab/bench/workload.ts'
import { conformanceParts, type KubernetesVersion } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { until } from '../../src/kit/poll-until.ts'
import { addonSuite } from './addon-suite.ts'
import { conformanceSuite } from './conformance-suite.ts'
import { drainSuite } from './drain-suite.ts'
import { asForeseen } from './dry-run.ts'
import { etcdctl } from './etcdctl.ts'
import { healFewSuite } from './heal-few-suite.ts'
import { snapshot } from './host-snapshot.ts'
import { idleCost } from './idle-cost.ts'
import { inWords, journalOf, opsDone } from './journal.ts'
import { kubectlOf } from './kubectl.ts'
import { freshLab } from './lab.ts'
import { replaceSuite, upgradeSuite } from './life-suite.ts'
import { leaksOn, tracesOf } from './secrets.ts'
import type { Operator } from './operator.ts'
import { serveOutsideNames } from './test-dns-server.ts'
import { snapshotSuite } from './snapshot-suite.ts'
import { type UpCluster, upCluster } from './up-cluster.ts'

const never = new AbortController().signal

export interface UpSuiteOptions {
  readonly addons?: boolean
  /** Whether it is carried on through its life: backups, drains, this version, another control plane. It takes 3+2. */
  readonly lives?: KubernetesVersion
  /** Whether upstream's own tests have their say too. They look up names. */
  readonly conformance?: boolean
  /** Whether something happens to it, which it heals by itself. It takes 3+2. */
  readonly heals?: boolean
  /** Whether to wait until a host rests, and to see what it takes then. */
  readonly idle?: boolean
}

/** What a cluster of some shape must show that `hyperkube up` has made, until `hyperkube reset` has taken it away. */
export function upSuite(shape: string, kubernetes: KubernetesVersion, options: UpSuiteOptions = {}): void {
  describe(`hyperkube up, ${shape}, Kubernetes ${kubernetes}`, () => {
    suite(shape, kubernetes, options)
  })
}

function suite(
  shape: string,
  kubernetes: KubernetesVersion,
  { addons = false, conformance = false, heals = false, idle = false, lives }: UpSuiteOptions,
): void {
  let lab: Lab
  let cluster: UpCluster
  let pods: ProbePod[]
  let outsideNames: AsyncDisposable | undefined

  beforeAll(async () => {
    lab = await freshLab('up')
    const prepare = async ({ edit }: Operator): Promise<void> => {
      if (!addons) return
      outsideNames = await serveOutsideNames(lab.gateway)
      await edit((document) => document.setIn(['spec', 'dns', 'forward'], [lab.gateway]))
    }
    const parts = conformance ? { parts: conformanceParts } : {}
    cluster = await upCluster(lab, shape, kubernetes.slice(1), { addons, prepare, ...parts })
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
    const seen = items.map(({ metadata, status }) => [
      metadata.name,
      status.conditions.find(({ type }) => type === 'Ready')?.status,
      status.nodeInfo.kubeletVersion,
    ])
    expect(seen).toEqual(cluster.hosts.map(({ name }) => [name, 'True', kubernetes]))
  })

  test('every member of etcd is well', async () => {
    const [first] = cluster.hosts
    const controlPlanes = cluster.hosts.filter(({ name }) => name.startsWith('cp'))
    const text = await script(first, `${etcdctl} endpoint health --cluster 2>&1`)
    expect(text.trim().split('\n')).toHaveLength(controlPlanes.length)
    for (const line of text.trim().split('\n')) expect(line).toContain('is healthy')
  })

  test('a pod runs on each node, with an image that was pulled; pods hear each other across hosts', async () => {
    await probeWorkload(cluster.api, never)
    pods = await until(
      'a pod on each node',
      async () => {
        const found = await probePods(cluster.api)
        return found.length === cluster.hosts.length && found
      },
      { within: 120_000 },
    )
    for (const from of pods) {
      for (const to of pods.filter((pod) => pod !== from)) {
        // A pod that runs may not listen yet.
        const answer = await until(
          `${to.name} to answer ${from.name}`,
          async () => dial(cluster.api, from, to.address, probe.port),
          { within: 30_000 },
        )
        expect(answer).toBe(to.name)
      }
    }
  })

  test('a service answers from every pod', async () => {
    const names = pods.map(({ name }) => name)
    for (const from of pods) {
      const answer = await until(
        `the service to answer ${from.name}`,
        async () => dial(cluster.api, from, probe.clusterIP, 80),
        { within: 30_000 },
      )
      expect(names).toContain(answer)
    }
  })

  test('kubectl reads logs and runs programs, through kubelets whose certificates the API server verifies', async () => {
    await using kubectl = await kubectlOf(cluster, kubernetes)
    for (const { name } of pods) {
      const logs = await kubectl.run('logs', name)
      expect(`${logs.stdout}${logs.stderr}`).toContain('Started HTTP')
      expect((await kubectl.run('exec', name, '--', 'hostname')).stdout.trim()).toBe(name)
    }
  })

  if (addons) addonSuite(() => cluster, kubernetes)

  test('what plan said is what the journals of the hosts say was done, op for op', async () => {
    for (const host of cluster.hosts) {
      const planned = (cluster.plan.ops[host.name] ?? []).map(inWords)
      expect(planned.length).toBeGreaterThan(50)
      expect(opsDone(await journalOf(host)).toSorted(), host.name).toEqual(planned.toSorted())
    }
  })

  test('nodes say what they are, also what their kubelets may not say', async () => {
    const { items } = await cluster.api.get<NodeList>('/api/v1/nodes')
    for (const { metadata, spec } of items) {
      const isControlPlane = metadata.name.startsWith('cp')
      expect('node-role.kubernetes.io/control-plane' in metadata.labels, metadata.name).toBe(isControlPlane)
      const taints = (spec.taints ?? []).map(({ key }) => key)
      const isAlone = cluster.hosts.every(({ name }) => name.startsWith('cp'))
      expect(taints).toEqual(isControlPlane && !isAlone ? ['node-role.kubernetes.io/control-plane'] : [])
    }
  })

  test('the cluster knows every host, and one of its controllers leads', async () => {
    const { items } = await cluster.api.get<HostList>('/apis/hyperkube.dev/v1/hosts')
    const known = items.map(({ metadata, spec }) => [metadata.name, spec.names.ip])
    expect(known).toEqual(cluster.hosts.map(({ name, address }) => [name, [address]]))
    const holder = await until(
      'a controller manager to lead',
      async () => {
        const { spec } = await cluster.api.get<Lease>(
          '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/hyperkube-controller-manager',
        )
        return spec.holderIdentity
      },
      { within: 60_000 },
    )
    expect(holder).toMatch(/^cp\d_/)
  })

  test('status says that all is well', async () => {
    const { code, stdout } = await cluster.hyperkube('status')
    const amount = cluster.hosts.length
    expect(code, stdout).toBe(0)
    expect(stdout).toContain(`${amount} of ${amount} hosts answer, ${amount} of ${amount} nodes ready`)
  })

  if (idle) idleTest(() => cluster.hosts.at(-1))

  test('a second up has nothing to do', async () => {
    const began = performance.now()
    const { code, stderr } = await cluster.hyperkube('up', '--yes')
    process.stderr.write(`a second up: ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
    expect(code).toBe(0)
    expect(stderr).toContain('nothing to do')
  })

  test('what drifted is shown by plan and mended by up, and nothing else is touched', async () => {
    const [first] = cluster.hosts
    const before = await starts(first)
    // Its agent would be quicker than whoever reads the plan.
    await cluster.operator.must(0, 'heal', 'pause', first?.name ?? '', '--for', '10m')
    await script(
      first,
      `
      rm /etc/hyperkube/kubelet/kubeconfig
      echo '# hello' >> /etc/systemd/system/kube-scheduler.service
      systemctl stop kube-proxy
      echo hello > /etc/hyperkube/stray
      chmod 644 /etc/hyperkube/kubelet/config.yaml
      cd /opt/hyperkube/kube-controller-manager-*
      sed 's/leader-elect/leader-erect/' kube-controller-manager > other
      chmod 755 other
      mv other kube-controller-manager
      `,
    )
    const shown = await cluster.hyperkube('plan', '--wide')
    expect(shown.code, shown.stderr).toBe(3)
    for (const thing of [
      '+ file /etc/hyperkube/kubelet/kubeconfig',
      '~ service kube-scheduler.service',
      '▸ start service kube-proxy.service',
      '- file /etc/hyperkube/stray',
      '~ file /etc/hyperkube/kubelet/config.yaml',
      '~ program kube-controller-manager',
    ]) {
      expect(shown.stdout).toContain(thing)
    }
    expect((await cluster.hyperkube('up', '--yes')).code).toBe(0)
    expect((await cluster.hyperkube('plan')).code).toBe(0)
    const after = await starts(first)
    for (const name of untouched) expect(after.get(name), name).toBe(before.get(name))
    await cluster.operator.must(0, 'heal', 'resume', first?.name ?? '')
  })

  if (heals) healFewSuite(() => cluster)
  if (lives !== undefined) {
    snapshotSuite(() => cluster)
    drainSuite(() => cluster, kubernetes)
    upgradeSuite(() => cluster, lives)
  }
  if (conformance) conformanceSuite(() => cluster)
  const newcomer =
    lives === undefined
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

  test('no secret is in what it said, nor anywhere on a host where it does not belong', async () => {
    const traces = tracesOf(cluster.identity)
    expect(traces.length).toBeGreaterThan(15)
    const said = cluster.first.stderr + cluster.first.stdout + (await everythingIn(cluster.directory))
    expect(traces.filter((trace) => said.includes(trace))).toEqual([])
    for (const host of cluster.hosts) expect(await leaksOn(host, traces), host.name).toEqual([])
  })

  test('reset leaves every host as it was', async () => {
    const came = newcomer?.()
    const staying = cluster.hosts.filter(({ name }) => came === undefined || name !== 'cp3')
    // With the systemd driver a kubelet has slices made for its pods; these hosts use the other one.
    for (const host of staying) await script(host, 'systemctl start kubepods-besteffort-pod1.slice')
    const all = [...cluster.hosts, ...(came === undefined ? [] : [came.host])]
    const { stdout } = await asForeseen(cluster, all, ['reset'])
    expect(stdout).toContain('nothing of lab is left on')
    const before = new Map([
      ...cluster.before,
      ...(came === undefined ? [] : [[came.host.name, came.before] as const]),
    ])
    for (const host of all) {
      // Volumes are their owners', and stay.
      await script(host, 'rm -rf /var/lib/hyperkube-volumes')
      expect(await snapshot(host), host.name).toEqual(before.get(host.name))
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

async function script(host: Host | undefined, text: string): Promise<string> {
  if (host === undefined) throw new Error('there is no host')
  return (await host.script(text, { allowFailure: true })).stdout
}

/** What is not named in the drift. */
const untouched = [
  ...['etcd', 'kube-apiserver', 'containerd', 'flanneld'],
  ...['apiserver-proxy', 'hyperkube-agent', 'hyperkube-controller-manager'],
]

/** When each service has started. */
async function starts(host: Host | undefined): Promise<ReadonlyMap<string, string>> {
  const text = await script(
    host,
    untouched.map((name) => `systemctl show -p ExecMainStartTimestampMonotonic --value ${name}`).join('\n'),
  )
  const times = text.trim().split('\n')
  return new Map(untouched.map((name, index) => [name, times[index] ?? '']))
}

/** All files that a command left on the operator's side, but for those that may hold secrets: sealed, or for kubectl. */
async function everythingIn(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return (
    await Promise.all(files.map(async ({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
  ).join('\n')
}

function idleTest(lastHost: () => Host | undefined): void {
  const patience = { timeout: 240_000 }
  test(
    'agent and proxy of a host with nothing to do take less than 140 MB and 2 % of a core',
    patience,
    async () => {
      const last = lastHost()
      if (last === undefined) throw new Error('there is no host')
      // After so much work it takes a while to come to rest.
      const { pss, cpuShare } = await until(
        'the host to come to rest',
        async () => {
          const cost = await idleCost(last)
          return cost.cpuShare < 0.02 && cost
        },
        { within: 200_000 },
      )
      process.stderr.write(`idle: ${(pss / 1e6).toFixed(0)} MB, ${(cpuShare * 100).toFixed(2)} % of a core\n`)
      expect(pss).toBeLessThan(140e6)
      expect(cpuShare).toBeLessThan(0.02)
    },
  )
}
