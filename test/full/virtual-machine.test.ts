import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Document } from 'yaml'
import {
  createProbeWorkload,
  dialFromPod,
  listProbePods,
  probe,
  type ProbePod,
} from '../../lab/bench/workload.ts'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { Accelerator, VirtualMachine } from '../../lab/hosts/virtual-machine.ts'
import { factsFormat } from '../../src/contract/facts.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { issueClientCertificate } from '../support/client-certificate.ts'
import { type HostSnapshot, takeHostSnapshot } from '../support/host-snapshot.ts'
import { openFreshLab } from '../support/lab.ts'
import { createOperator, type Operator } from '../support/operator.ts'

const kubernetes = '1.37.1'
/**
 * Kernel modules that a plan loads. `settings` are the sysctls of a plan that do not depend on these modules.
 */
const modules = ['br_netfilter', 'nf_conntrack', 'overlay', 'vxlan']
const settings = [
  'net.ipv4.ip_forward',
  'fs.inotify.max_user_instances',
  'fs.inotify.max_user_watches',
  'kernel.panic',
  'kernel.panic_on_oops',
  'vm.overcommit_memory',
]
/**
 * Timeout of each test. With an emulated processor `up` takes a quarter of an hour, and longer under load.
 */
const timeoutMs = 3_600_000
vi.setConfig({ testTimeout: timeoutMs })
const neverAborted = new AbortController().signal

let lab: Lab
let machine: VirtualMachine
let operator: Operator
let api: KubeApi
let before: { readonly host: HostSnapshot; readonly settings: string }
let startedAt: number
const shown: CheckResult[] = []

beforeAll(async () => {
  lab = await openFreshLab('vm')
  machine = await lab.upVirtual('cp1')
  operator = await createOperator(lab, [machine], kubernetes)
  if (machine.accelerator === 'tcg') await operator.edit(relaxLeaderElection)
  const admin = await issueClientCertificate(await operator.identity(), 'kubernetes', 'test', [
    'hyperkube:admins',
  ])
  api = new KubeApi(`https://${machine.address}:6443`, admin)
}, timeoutMs)
afterAll(async () => {
  try {
    const [hyperkube = ''] = (await operator.must(0, 'version')).stdout.split('\n')
    const system = await readOutput('. /etc/os-release; echo "$PRETTY_NAME, kernel $(uname -r)"')
    const { accelerator } = machine
    const evidence = { date: new Date(), hyperkube, system, accelerator }
    const file = join(import.meta.dirname, '../../docs/evidence/virtual-machine.md')
    await writeFile(file, formatVirtualMachineEvidence(evidence))
  } finally {
    api.close()
    await operator.close()
    await lab.down()
  }
}, 120_000)

/**
 * Extends the leases of leader election. An emulated processor is too slow to renew them in time, and a
 * component that loses its lease restarts.
 */
function relaxLeaderElection(document: Document): void {
  const args = {
    'leader-elect-lease-duration': '180s',
    'leader-elect-renew-deadline': '150s',
    'leader-elect-retry-period': '20s',
  }
  for (const name of ['controllerManager', 'scheduler']) {
    document.setIn(['spec', 'components', name, 'args'], args)
  }
}

beforeEach(({ skip }) => {
  skip(
    shown.some(({ passed }) => !passed),
    'a previous test failed',
  )
  startedAt = performance.now()
})
afterEach(({ task }) => {
  if (task.result?.state === 'skip') return
  const seconds = (performance.now() - startedAt) / 1000
  shown.push({ what: task.name, passed: task.result?.state !== 'fail', seconds })
  process.stderr.write(`${task.name}: ${seconds.toFixed(1)} s\n`)
})

async function readOutput(script: string): Promise<string> {
  return (await machine.script(script)).stdout.trim()
}

async function loadedModules(): Promise<string[]> {
  const all = (await readOutput("cut -d' ' -f1 /proc/modules")).split('\n')
  return modules.filter((name) => all.includes(name))
}

async function settingsNow(): Promise<string> {
  return readOutput(`sysctl ${settings.join(' ')}`)
}

interface NodeList {
  readonly items: readonly {
    readonly status: {
      readonly conditions: readonly { readonly type: string; readonly status: string }[]
      readonly nodeInfo: { readonly bootID: string }
    }
  }[]
}

/** Waits until the node has become Ready after its last boot. */
async function nodeReady(): Promise<true> {
  const bootId = await readOutput('cat /proc/sys/kernel/random/boot_id')
  return pollUntil(
    'the node to be Ready',
    async () => {
      const { items } = await api.get<NodeList>('/api/v1/nodes')
      const [status] = items.map((node) => node.status)
      const ready = status?.conditions.find(({ type }) => type === 'Ready')
      return status?.nodeInfo.bootID === bootId && ready?.status === 'True'
    },
    { timeoutMs: timeoutMs / 3, intervalMs: 1000 },
  )
}

/** Waits for a probe pod that responds at the address of its Service. */
async function servingPod(): Promise<ProbePod> {
  return pollUntil(
    'a pod to be reached through its service',
    async () => {
      const [pod] = await listProbePods(api)
      return pod !== undefined && (await dialFromPod(api, pod, probe.clusterIP, 80)) === pod.name && pod
    },
    { timeoutMs: timeoutMs / 3, intervalMs: 1000 },
  )
}

test('no module of the plan is loaded before `up`', async () => {
  expect(await loadedModules()).toEqual([])
  before = { host: await takeHostSnapshot(machine), settings: await settingsNow() }
})

test('`up --yes` succeeds, and the node becomes Ready', async () => {
  await operator.must(0, 'up', '--yes')
  expect(await nodeReady()).toBe(true)
})

test('the facts of the host report cgroup version 2 and loadable modules', async () => {
  const agent = '/proc/$(systemctl show -p MainPID --value hyperkube-agent)/exe'
  const { system } = factsFormat.newest.schema.parse(JSON.parse(await readOutput(`${agent} facts -o json`)))
  expect(system).toMatchObject({ os: 'linux', container: false, cgroup: { version: 2 } })
  expect(system).toMatchObject({ kernel: { modules: true, nftables: true } })
})

test('kubelet and containerd use the systemd cgroup driver', async () => {
  expect(await readOutput('cat /etc/hyperkube/kubelet/config.yaml')).toContain('cgroupDriver: systemd')
  expect(await readOutput('cat /etc/hyperkube/containerd/config.toml')).toContain('SystemdCgroup = true')
})

test('a pod runs in a systemd scope, and is reachable through its Service', async () => {
  await createProbeWorkload(api, neverAborted)
  await servingPod()
  const scopes = await readOutput("systemctl list-units --no-legend --plain --type=scope 'cri-containerd-*'")
  expect(scopes).toContain('.scope')
  expect(await readOutput('ls -d /sys/fs/cgroup/kubepods.slice/*/*/cri-containerd-*.scope')).not.toBe('')
})

test('all modules of the plan are loaded, and configured for the next boot', async () => {
  expect(await loadedModules()).toEqual(modules)
  expect((await readOutput('cat /etc/modules-load.d/hyperkube.conf')).split('\n')).toEqual(
    expect.arrayContaining(modules),
  )
})

test('a second `up` has nothing to do', async () => {
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

test('after a reboot the modules are loaded, the node is Ready and the pod is reachable', async () => {
  await machine.reboot()
  expect(await loadedModules()).toEqual(modules)
  await nodeReady()
  await servingPod()
})

test('an `up` after the reboot has nothing to do', async () => {
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

test('`reset --yes` restores files, users, units, links, rules, mounts and settings', async () => {
  await operator.must(0, 'reset', '--yes')
  expect(await takeHostSnapshot(machine)).toEqual(before.host)
  expect(await settingsNow()).toEqual(before.settings)
})

test('after another reboot no module of the plan is loaded', async () => {
  await machine.reboot()
  expect(await loadedModules()).toEqual([])
})

/** Result of one test, for the evidence file. */
interface CheckResult {
  readonly what: string
  readonly passed: boolean
  readonly seconds: number
}

interface VirtualMachineEvidence {
  readonly date: Date
  /** Output of `hyperkube version`. */
  readonly hyperkube: string
  /** Operating system and kernel of the virtual machine. */
  readonly system: string
  readonly accelerator: Accelerator
}

const speeds: Readonly<Record<Accelerator, string>> = {
  kvm: 'Its instructions ran on the processor itself.',
  tcg: `Its processors were emulated: do not compare its figures with others.
Leases of the controllers were longer than usual, because a host that slow does not renew them in time.`,
}

/** Renders the results for docs/evidence. */
function formatVirtualMachineEvidence({
  date,
  hyperkube,
  system,
  accelerator,
}: VirtualMachineEvidence): string {
  const rows = shown.map(
    ({ what, passed, seconds }) => `| ${what} | ${passed ? 'yes' : 'no'} | ${seconds.toFixed(1)} s |`,
  )
  return `# A virtual machine with its own kernel

Written by \`npm run e2e:full\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes}, one host, control
plane and worker.

The other hosts of the lab are containers: they share the kernel of their machine, with cgroup version 1
and all modules loaded. This one is a virtual machine: ${system}, cgroup version 2,
two processors, 4 GiB of memory. ${speeds[accelerator]}

Its cluster.yml sets no cgroup driver and no module, as in every other suite: the differences
follow from the facts of the host. Modules that a node needs: ${modules.join(', ')}.

| test | passed | duration |
|---|---|---|
${rows.join('\n')}
`
}
