import { afterAll, beforeAll, expect, test } from 'vitest'
import { fetchScript, imageFetch, testImage } from '../../lab/cluster/artifacts.ts'
import { importImages } from '../../lab/cluster/import-images.ts'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import { kubernetesVersions } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { stages } from '../../src/contract/component-plan.ts'
import { stripDigest } from '../../src/contract/image-reference.ts'
import type { NodePlan } from '../../src/contract/node-plan.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { formatDuration } from '../../src/kit/time-format.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import {
  AppliedHost,
  countCalls,
  findFailure,
  listDoneOps,
  withoutOwnServices,
} from '../support/applied-host.ts'
import { issueClientCertificate } from '../support/client-certificate.ts'
import { type HostSnapshot, takeHostSnapshot } from '../support/host-snapshot.ts'
import { openLabMirror } from '../support/lab-mirror.ts'
import { openFreshLab, startOneHost } from '../support/lab.ts'
import { listReadyNodes } from '../support/membership.ts'
import { ensureNodeUserRbac } from '../support/node-user-rbac.ts'
import { planCluster } from '../support/planned-cluster.ts'

const [kubernetes] = kubernetesVersions

let lab: Lab
let mirror: Mirror
let host: Host
let applier: AppliedHost
let identity: Identity
let plan: NodePlan
let before: HostSnapshot
let callsFromNothing = 0

beforeAll(async () => {
  lab = await openFreshLab('apply')
  mirror = await openLabMirror(lab)
  host = await startOneHost(lab, 'cp1', { disk: 'loop', diskGigabytes: 8 })
  const planned = await planCluster(kubernetes.slice(1), mirror.address, [
    { host, roles: ['control-plane', 'worker'] },
  ])
  const [only] = planned.plans
  if (only === undefined) throw new Error('nothing was planned')
  identity = planned.identity
  plan = withoutOwnServices(only)
  applier = await AppliedHost.install(host, identity)
  await startProxyStandIn()
  before = await takeHostSnapshot(host)
})
afterAll(async () => {
  try {
    await mirror.close()
  } finally {
    await lab.down()
  }
})

function services(): string[] {
  return plan.components.flatMap(({ service }) => service?.name ?? [])
}

test('the real host passes the contract of the fakes', async () => {
  const lines = await applier.contract()
  expect(findFailure(lines)).toBeUndefined()
  expect(lines.filter(({ passed }) => passed !== undefined)).toHaveLength(4)
})

test('a node is applied stage by stage and becomes Ready', { timeout: 600_000 }, async () => {
  const times: string[] = []
  for (const through of stages) {
    const started = performance.now()
    const lines = await applier.apply(plan, { through })
    expect(findFailure(lines)).toBeUndefined()
    callsFromNothing += countCalls(lines) ?? 0
    times.push(
      `${through} ${formatDuration(performance.now() - started)} for ${listDoneOps(lines).length} ops`,
    )
    if (through === 'api') await grantNodeUsers()
    if (through === 'node') await importPause()
  }
  process.stderr.write(`apply: ${times.join(', ')}\n`)
  for (const name of services()) expect(await readProperty(name, 'ActiveState')).toBe('active')
  await pollUntil('cp1 to be Ready', isReady, { timeoutMs: 90_000 })
})

test('a pod runs in the derived pod network', async () => {
  await runPod()
  expect((await host.exec(['ip', '-o', 'link', 'show', 'cni0'])).stdout).toContain('cni0')
})

test('an applied plan has no ops left', async () => {
  const started = performance.now()
  expect(await applier.diff(plan)).toEqual({ ops: [], findings: [] })
  process.stderr.write(
    `diff of ${plan.components.length} components: ${formatDuration(performance.now() - started)}\n`,
  )
  expect(listDoneOps(await applier.apply(plan))).toEqual([])
})

test('no secret is in the ledger or the journal', async () => {
  const keys = identity.cas.kubernetes.privateKey.revealText().split('\n').slice(1, 3)
  const { stdout } = await host.script('cat /var/lib/hyperkube/agent/*.*json')
  expect(stdout).toContain('kube-apiserver.service')
  for (const line of keys) expect(stdout).not.toContain(line)
  expect(stdout).not.toContain('PRIVATE KEY')
})

/** Each entry: a manual change, the finding that reports it, and the ops that repair it. */
const drifts: readonly (readonly [by: string, message: string, repairs: readonly string[]])[] = [
  [
    'echo "# by hand" >> /etc/hyperkube/kube-scheduler/kubeconfig',
    'content changed',
    ['change file /etc/hyperkube/kube-scheduler/kubeconfig', 'restart service kube-scheduler.service'],
  ],
  [
    'chmod 666 /etc/hyperkube/etcd/bootstrap.env',
    'its mode is 0666',
    ['change file /etc/hyperkube/etcd/bootstrap.env'],
  ],
  [
    'echo x > /etc/hyperkube/agent/etcd-ca.key',
    'content changed',
    ['change file /etc/hyperkube/agent/etcd-ca.key'],
  ],
  ['rm /etc/crictl.yaml', 'missing', ['create file /etc/crictl.yaml']],
  ['chown daemon: /etc/hyperkube/kubelet', 'not to root', ['change directory /etc/hyperkube/kubelet']],
  ['touch /etc/hyperkube/kubelet/orphan', 'no component', ['remove file /etc/hyperkube/kubelet/orphan']],
  ['mkdir -p /opt/hyperkube/old/deep', 'no component', ['remove directory /opt/hyperkube/old']],
  [
    'rm /etc/hyperkube/kube-proxy/client.key',
    'its key is missing',
    ['change certificate /etc/hyperkube/kube-proxy/client.crt'],
  ],
  [
    'echo {} > /etc/cni/net.d/10-flannel.conflist',
    'content changed',
    ['change derived-file /etc/cni/net.d/10-flannel.conflist'],
  ],
  ['sysctl -qw net.ipv4.ip_forward=0', 'it is 0, not 1', ['change sysctl net.ipv4.ip_forward']],
  [
    'systemctl stop kube-controller-manager',
    'does not run',
    ['start service kube-controller-manager.service'],
  ],
  ['systemctl disable -q kube-proxy', 'does not run', ['start service kube-proxy.service']],
  [
    'echo "# by hand" >> /etc/systemd/system/flanneld.service',
    'content changed',
    ['change service flanneld.service', 'restart service flanneld.service'],
  ],
  [
    'echo x | tee -a /opt/hyperkube/crictl-*/crictl >/dev/null',
    'the content of crictl changed',
    ['change artifact', 'restart service containerd.service'],
  ],
]

test(
  'manual changes are found and repaired, and other resources stay unchanged',
  { timeout: 300_000 },
  async () => {
    const started = await startTimes()
    await host.script(drifts.map(([command]) => command).join('\n'))
    const { findings } = await applier.diff(plan)
    for (const [command, expectedMessage] of drifts) {
      expect(
        findings.some(({ message }) => message.includes(expectedMessage)),
        `${command}: ${JSON.stringify(findings)}`,
      ).toBe(true)
    }
    expect(findings).toHaveLength(drifts.length)
    const lines = await applier.apply(plan)
    expect(findFailure(lines)).toBeUndefined()
    const expected = drifts.flatMap(([, , repairs]) => repairs).toSorted()
    expect(
      listDoneOps(lines)
        .map((line) => line.replace(/ crictl-.*/, ''))
        .toSorted(),
    ).toEqual(expected)
    const now = await startTimes()
    const restarted = services().filter((name) => now.get(name) !== started.get(name))
    expect(restarted.toSorted()).toEqual([
      'containerd.service',
      'flanneld.service',
      'kube-controller-manager.service',
      'kube-scheduler.service',
    ])
    expect(await applier.diff(plan)).toEqual({ ops: [], findings: [] })
  },
)

test('a download with a wrong digest is refused before any change', async () => {
  const [wrong] = plan.components
    .flatMap(({ artifacts }) => artifacts)
    .flatMap((one) => (one.from === 'url' ? [one] : []))
  if (wrong === undefined) throw new Error('there is no download')
  const other = {
    ...wrong,
    version: '9.9.9',
    sha256: 'a'.repeat(64),
    directory: '/opt/hyperkube/wrong-9.9.9',
  }
  const changed: NodePlan = {
    ...plan,
    components: plan.components.map((component) =>
      component.name === 'host' ? { ...component, artifacts: [other], sysctls: {} } : component,
    ),
  }
  const failure = findFailure(await applier.apply(changed))
  expect(failure).toMatchObject({ code: 'APPLY_WRONG_DIGEST' })
  expect(failure?.message).toContain(wrong.url)
  expect(await applier.diff(plan)).toEqual({ ops: [], findings: [] })
  expect((await host.script('ls -A /opt/hyperkube')).stdout).not.toContain('.hyperkube')
})

test('a reset restores the initial state of the host', { timeout: 300_000 }, async () => {
  const started = performance.now()
  const lines = await applier.reset()
  expect(findFailure(lines)).toBeUndefined()
  process.stderr.write(`reset: ${formatDuration(performance.now() - started)}\n`)
  const { report } = lines.find((line) => line.report !== undefined) ?? {}
  const removed = new Map(report?.map(({ step, removed: items }) => [step, items.join(' ')]))
  expect(removed.get('containers')).toContain('processes')
  expect(removed.get('links')).toContain('cni0')
  expect(removed.get('links')).toContain('flannel.')
  expect(removed.get('nftables tables')).toContain('kube-proxy')
  expect(removed.get('data')).toContain('/var/lib/etcd')
  expect(await takeHostSnapshot(host)).toEqual(before)
})

test('a full disk is reported, and apply continues after space is freed', { timeout: 300_000 }, async () => {
  await host.fillDisk()
  try {
    expect(findFailure(await applier.apply(plan, { through: 'prepare' }))).toMatchObject({
      code: 'APPLY_DISK_FULL',
    })
  } finally {
    await host.emptyDisk()
  }
  expect(findFailure(await applier.apply(plan, { through: 'prepare' }))).toBeUndefined()
})

test(
  'a port in use is reported with the log of the service that needs it',
  { timeout: 300_000 },
  async () => {
    await host.script(`systemd-run --quiet --unit=taken socat TCP-LISTEN:2380,bind=${host.address} STDOUT`)
    const failure = findFailure(await applier.apply(plan, { through: 'etcd' }))
    await host.script('systemctl stop taken; systemctl reset-failed taken 2>/dev/null || true')
    expect(failure).toMatchObject({
      code: 'SERVICE_FAILED',
      hint: 'on the host: journalctl -u etcd.service -e',
    })
    expect(failure?.message).toMatch(/^cp1\/etcd: etcd\.service does not start \(.*exited \d+ times/)
    expect(failure?.message).toContain('address already in use')
    expect(findFailure(await applier.apply(plan, { through: 'etcd' }))).toBeUndefined()
    expect(findFailure(await applier.reset())).toBeUndefined()
  },
)

test('after a kill at any point, the next apply or reset completes', { timeout: 900_000 }, async () => {
  const points = Array.from({ length: 5 }, () => 50 + Math.floor(Math.random() * 350))
  process.stderr.write(`killed at calls ${points.join(', ')} of ${callsFromNothing}\n`)
  for (const dieAt of points) {
    const lines = await applier.apply(plan, { through: 'controllers', dieAt })
    expect(findFailure(lines)).toBeUndefined()
    expect(countCalls(lines)).toBeUndefined()
  }
  await bringUp()
  await runPod()
  expect(countCalls(await applier.reset({ dieAt: 50 + Math.floor(Math.random() * 250) }))).toBeUndefined()
  expect(findFailure(await applier.reset())).toBeUndefined()
  expect(await takeHostSnapshot(host)).toEqual(before)
})

test('after a power cut, the next apply completes', { timeout: 900_000 }, async () => {
  const interrupted = applier.apply(plan, { through: 'controllers' }).catch(() => [])
  await pollUntil(
    'the first program to be there',
    async () => (await host.script('ls /opt/hyperkube')).stdout.includes('etcd'),
    {
      timeoutMs: 60_000,
      intervalMs: 20,
    },
  )
  await host.powerCut()
  expect(countCalls(await interrupted)).toBeUndefined()
  await lab.start('cp1')
  await startProxyStandIn()
  await bringUp()
})

/** Applies the plan stage by stage, until the node is Ready and a diff has no ops. */
async function bringUp(): Promise<void> {
  for (const through of ['api', 'node', 'network'] as const) {
    expect(findFailure(await applier.apply(plan, { through }))).toBeUndefined()
    if (through === 'api') await grantNodeUsers()
    if (through === 'node') await importPause()
  }
  expect(await applier.diff(plan)).toEqual({ ops: [], findings: [] })
  await pollUntil('cp1 to be Ready', isReady, { timeoutMs: 90_000 })
}

/** Starts socat in place of the API server proxy. */
async function startProxyStandIn(): Promise<void> {
  await host.script(
    'systemd-run --quiet --unit=proxy socat TCP-LISTEN:6444,fork,reuseaddr,bind=127.0.0.1 TCP:127.0.0.1:6443',
  )
}

async function readProperty(name: string, key: string): Promise<string> {
  return (await host.exec(['systemctl', 'show', `--property=${key}`, '--value', name])).stdout.trim()
}

async function startTimes(): Promise<ReadonlyMap<string, string>> {
  const times = services().map(
    async (name) => [name, await readProperty(name, 'ExecMainStartTimestampMonotonic')] as const,
  )
  return new Map(await Promise.all(times))
}

async function withApi<T>(use: (client: KubeApi) => Promise<T>): Promise<T> {
  const client = new KubeApi(
    `https://${host.address}:6443`,
    await issueClientCertificate(identity, 'kubernetes', 'test', ['system:masters']),
  )
  try {
    return await use(client)
  } finally {
    client.close()
  }
}

/** Creates the RBAC rules that `up` creates for flannel and kube-proxy. */
async function grantNodeUsers(): Promise<void> {
  const check = async (): Promise<boolean> =>
    withApi(async (client) => ensureNodeUserRbac(client).then(() => true))
  await pollUntil('the RBAC rules', check, { timeoutMs: 60_000, intervalMs: 500 })
}

async function importPause(): Promise<void> {
  const images = [...plan.components.flatMap((component) => component.images.map(stripDigest)), testImage]
  await host.script(fetchScript({ mirror: mirror.address, digests: new Map() }, images.map(imageFetch)))
  const runtime = plan.components
    .flatMap(({ artifacts }) => artifacts)
    .find(({ name }) => name === 'containerd')
  await host.script(`PATH=$PATH:${runtime?.directory}\n${importImages}\nrm -r /var/lib/lab-images`)
}

async function isReady(): Promise<boolean> {
  return (await withApi(listReadyNodes)).length > 0
}

async function runPod(): Promise<void> {
  const path = '/api/v1/namespaces/default'
  await pollUntil(
    'the default service account',
    async () => withApi(async (client) => client.get(`${path}/serviceaccounts/default`).then(() => true)),
    { timeoutMs: 60_000, intervalMs: 500 },
  )
  const container = { name: 'main', image: testImage, args: ['pause'], imagePullPolicy: 'Never' }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'one' }, spec: { containers: [container] } }
  await withApi(async (client) => client.create(`${path}/pods`, pod))
  await pollUntil(
    'the pod to run',
    async () =>
      withApi(
        async (client) =>
          (await client.get<{ status: { phase: string } }>(`${path}/pods/one`)).status.phase === 'Running',
      ),
    { timeoutMs: 90_000, intervalMs: 500 },
  )
}
