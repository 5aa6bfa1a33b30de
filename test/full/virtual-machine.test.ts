import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { Document } from 'yaml'
import { dial, probe, type ProbePod, probePods, probeWorkload } from '../../lab/bench/workload.ts'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { VirtualMachine } from '../../lab/hosts/virtual-machine.ts'
import { factsFormat } from '../../src/contract/facts.ts'
import { until } from '../../src/kit/poll-until.ts'
import { clientOf } from '../support/client-certificate.ts'
import { type HostSnapshot, snapshot } from '../support/host-snapshot.ts'
import { freshLab } from '../support/lab.ts'
import { newOperator, type Operator } from '../support/operator.ts'
import { type Shown, virtualMachineText } from '../support/virtual-machine-evidence.ts'

const kubernetes = '1.37.1'
/** What a plan names of the kernel's modules, and of its settings those that are there without any module. */
const modules = ['br_netfilter', 'nf_conntrack', 'overlay', 'vxlan']
const settings = [
  'net.ipv4.ip_forward',
  'fs.inotify.max_user_instances',
  'fs.inotify.max_user_watches',
  'kernel.panic',
  'kernel.panic_on_oops',
  'vm.overcommit_memory',
]
/** On an emulated processor `up` takes a quarter of an hour, and more where others work beside it. */
const patience = 3_600_000
vi.setConfig({ testTimeout: patience })
const never = new AbortController().signal

let lab: Lab
let machine: VirtualMachine
let operator: Operator
let api: KubeApi
let before: { readonly host: HostSnapshot; readonly settings: string }
let began: number
const shown: Shown[] = []

beforeAll(async () => {
  lab = await freshLab('vm')
  machine = await lab.upVirtual('cp1')
  operator = await newOperator(lab, [machine], kubernetes)
  if (machine.accelerator === 'tcg') await operator.edit(beSlow)
  const admin = await clientOf(await operator.identity(), 'kubernetes', 'test', ['hyperkube:admins'])
  api = new KubeApi(`https://${machine.address}:6443`, admin)
}, patience)
afterAll(async () => {
  try {
    const [hyperkube = ''] = (await operator.must(0, 'version')).stdout.split('\n')
    const system = await said('. /etc/os-release; echo "$PRETTY_NAME, kernel $(uname -r)"')
    const { accelerator } = machine
    const evidence = { date: new Date(), hyperkube, kubernetes, system, accelerator, modules, shown }
    const file = join(import.meta.dirname, '../../docs/evidence/virtual-machine.md')
    await writeFile(file, virtualMachineText(evidence))
  } finally {
    api.close()
    await operator.close()
    await lab.down()
  }
}, 120_000)

/** A processor that is emulated does not renew a lease in time, and whoever loses it starts anew. */
function beSlow(document: Document): void {
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
    shown.some(({ well }) => !well),
    'it stands on what went wrong before',
  )
  began = performance.now()
})
afterEach(({ task }) => {
  if (task.result?.state === 'skip') return
  const seconds = (performance.now() - began) / 1000
  shown.push({ what: task.name, well: task.result?.state !== 'fail', seconds })
  process.stderr.write(`${task.name}: ${seconds.toFixed(1)} s\n`)
})

async function said(script: string): Promise<string> {
  return (await machine.script(script)).stdout.trim()
}

async function loadedModules(): Promise<string[]> {
  const all = (await said("cut -d' ' -f1 /proc/modules")).split('\n')
  return modules.filter((name) => all.includes(name))
}

async function settingsNow(): Promise<string> {
  return said(`sysctl ${settings.join(' ')}`)
}

interface NodeList {
  readonly items: readonly {
    readonly status: {
      readonly conditions: readonly { readonly type: string; readonly status: string }[]
      readonly nodeInfo: { readonly bootID: string }
    }
  }[]
}

/** That the node is Ready, as it says since its last boot. */
async function nodeReady(): Promise<true> {
  const bootId = await said('cat /proc/sys/kernel/random/boot_id')
  return until(
    'the node to be Ready',
    async () => {
      const { items } = await api.get<NodeList>('/api/v1/nodes')
      const [status] = items.map((node) => node.status)
      const ready = status?.conditions.find(({ type }) => type === 'Ready')
      return status?.nodeInfo.bootID === bootId && ready?.status === 'True'
    },
    { within: patience / 3, every: 1000 },
  )
}

/** A pod that answers at the address of its service. */
async function servingPod(): Promise<ProbePod> {
  return until(
    'a pod to be reached through its service',
    async () => {
      const [pod] = await probePods(api)
      return pod !== undefined && (await dial(api, pod, probe.clusterIP, 80)) === pod.name && pod
    },
    { within: patience / 3, every: 1000 },
  )
}

test('before, none of these modules is loaded', async () => {
  expect(await loadedModules()).toEqual([])
  before = { host: await snapshot(machine), settings: await settingsNow() }
})

test('`up --yes` ends with 0, and the node is Ready', async () => {
  await operator.must(0, 'up', '--yes')
  expect(await nodeReady()).toBe(true)
})

test('the facts of the host say cgroup version 2, and that modules can be loaded', async () => {
  const agent = '/proc/$(systemctl show -p MainPID --value hyperkube-agent)/exe'
  const { system } = factsFormat.newest.schema.parse(JSON.parse(await said(`${agent} facts -o json`)))
  expect(system).toMatchObject({ os: 'linux', container: false, cgroup: { version: 2 } })
  expect(system).toMatchObject({ kernel: { modules: true, nftables: true } })
})

test('kubelet and containerd use the systemd driver', async () => {
  expect(await said('cat /etc/hyperkube/kubelet/config.yaml')).toContain('cgroupDriver: systemd')
  expect(await said('cat /etc/hyperkube/containerd/config.toml')).toContain('SystemdCgroup = true')
})

test('a pod runs in a scope of systemd, and is reached through its service', async () => {
  await probeWorkload(api, never)
  await servingPod()
  const scopes = await said("systemctl list-units --no-legend --plain --type=scope 'cri-containerd-*'")
  expect(scopes).toContain('.scope')
  expect(await said('ls -d /sys/fs/cgroup/kubepods.slice/*/*/cri-containerd-*.scope')).not.toBe('')
})

test('all of these modules are loaded, and named for the next boot', async () => {
  expect(await loadedModules()).toEqual(modules)
  expect((await said('cat /etc/modules-load.d/hyperkube.conf')).split('\n')).toEqual(
    expect.arrayContaining(modules),
  )
})

test('a second `up` has nothing to do', async () => {
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

test('after a reboot the modules are loaded, the node is Ready and the pod answers again', async () => {
  await machine.reboot()
  expect(await loadedModules()).toEqual(modules)
  await nodeReady()
  await servingPod()
})

test('an `up` after the reboot has nothing to do', async () => {
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
})

test('`reset --yes` leaves files, users, units, links, rules, mounts and settings as before', async () => {
  await operator.must(0, 'reset', '--yes')
  expect(await snapshot(machine)).toEqual(before.host)
  expect(await settingsNow()).toEqual(before.settings)
})

test('after one more reboot none of these modules is loaded', async () => {
  await machine.reboot()
  expect(await loadedModules()).toEqual([])
})
