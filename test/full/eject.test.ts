import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import type { ProbePod } from '../../lab/bench/workload.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { installKubeadm, runEjectScript, sendEjectFiles } from '../support/eject.ts'
import { etcdctl } from '../support/etcdctl.ts'
import { openKubectl } from '../support/kubectl.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import {
  expectKubectlReachesPods,
  expectNodesReady,
  expectPodsReachEachOther,
  expectServiceReachable,
  startPodOnEachNode,
} from '../support/up-expectations.ts'

const kubernetes = 'v1.37.1'
const timeout = 900_000
/** The cluster has no CoreDNS, but kubeadm checks its version. */
const ignoreDns = '--ignore-preflight-errors=CoreDNSUnsupportedPlugins,CoreDNSMigration'
const clusterNow = setUpCluster('eject', '1+1', kubernetes.slice(1))
const evidence = join(import.meta.dirname, '../../docs/evidence/eject.md')

let pods: ProbePod[]
let before: ClusterState
const seconds: Record<string, number> = {}
let upgradePlan = ''

/** What must not change: members and cluster id of etcd, pods and their containers. */
interface ClusterState {
  readonly etcd: string
  readonly containers: readonly string[]
}

const podList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), uid: z.string() }),
      status: z.object({ containerStatuses: z.array(z.object({ containerID: z.string() })) }),
    }),
  ),
})

async function readState(): Promise<ClusterState> {
  const { api } = clusterNow()
  const { stdout } = await findHost('cp1').script(`${etcdctl} member list -w json`)
  const { header, members } = z
    .object({ header: z.object({ cluster_id: z.number() }), members: z.array(z.object({ ID: z.number() })) })
    .parse(JSON.parse(stdout))
  const { items } = podList.parse(await api.get('/api/v1/namespaces/default/pods'))
  return {
    etcd: `${header.cluster_id} ${members.map(({ ID }) => ID).join()}`,
    containers: items.map(
      ({ metadata, status }) => `${metadata.uid} ${status.containerStatuses[0]?.containerID}`,
    ),
  }
}

function findHost(name: string): Host {
  const host = clusterNow().hosts.find((one) => one.name === name)
  if (host === undefined) throw new Error(`there is no host ${name}`)
  return host
}

const directory = (): string => join(clusterNow().directory, 'eject')

/** Runs the script of a host and keeps the duration of the first run. */
async function runEject(name: string, ...args: readonly string[]): Promise<void> {
  const took = await runEjectScript(findHost(name), ...args)
  seconds[[name, ...args].join(' ')] ??= took
}

async function runKubectl(...args: readonly string[]): Promise<void> {
  await using kubectl = await openKubectl(clusterNow(), kubernetes)
  await kubectl.run(...args)
}

async function waitForNodes(): Promise<void> {
  await pollUntil(
    'all nodes to be Ready',
    async () => expectNodesReady(clusterNow(), kubernetes).then(() => true),
    {
      timeoutMs: 120_000,
      intervalMs: 1000,
    },
  )
}

async function expectNetwork(): Promise<void> {
  await expectPodsReachEachOther(clusterNow(), pods)
  await expectServiceReachable(clusterNow(), pods)
  await expectKubectlReachesPods(clusterNow(), kubernetes, pods)
}

beforeAll(async () => {
  const { api, directory: workspace, hosts } = clusterNow()
  pods = await startPodOnEachNode(clusterNow())
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'word' },
    stringData: { word: 'before' },
  }
  await api.create('/api/v1/namespaces/default/secrets', secret)
  before = await readState()
  const { spec } = z
    .object({ spec: z.object({ artifacts: z.object({ mirror: z.string() }) }) })
    .parse(parse(await readFile(join(workspace, 'cluster.yml'), 'utf8')))
  await installKubeadm(hosts, spec.artifacts.mirror, kubernetes)
}, timeout)

test(
  'a dry run lists files and writes nothing; files with keys are readable only by their owner',
  { timeout },
  async () => {
    const { operator } = clusterNow()
    const args = ['eject', '--to', 'kubeadm', '--out', directory()]
    const { stdout } = await operator.must(3, ...args, '--dry-run')
    expect(stdout).toContain('hosts/cp1/files/etc/kubernetes/pki/ca.key')
    await expect(stat(directory())).rejects.toThrow('ENOENT')
    const { stderr } = await operator.must(0, ...args, '--yes')
    expect(stderr).toMatch(/kube-router +kept as service/)
    expect((await stat(directory())).mode & 0o777).toBe(0o700)
    const { stdout: modes } = await runProgram(['find', directory(), '-type', 'f', '-printf', '%m\n'])
    expect(new Set(modes.trim().split('\n'))).toEqual(new Set(['600', '700']))
    const again = await operator.must(1, ...args, '--yes')
    expect(again.stderr).toContain('EJECT_EXISTS')
  },
)

test(
  'the hosts move to kubeadm, with the same data of etcd and the same containers',
  { timeout },
  async () => {
    const { hosts, api } = clusterNow()
    const cluster = join(directory(), 'cluster')
    await runKubectl(
      ...['apply', '--server-side', '--force-conflicts'],
      ...['-f', join(cluster, 'nodes.yaml'), '-f', join(cluster, 'objects.yaml')],
    )
    for (const host of hosts) {
      await sendEjectFiles(host, directory())
      await runEject(host.name)
      await waitForNodes()
    }
    await runKubectl('-n', 'kube-system', 'rollout', 'status', 'daemonset', 'kube-proxy', '--timeout=120s')
    expect(await readState()).toEqual(before)
    const { data } = await api.get<{ data: { word: string } }>('/api/v1/namespaces/default/secrets/word')
    expect(Buffer.from(data.word, 'base64').toString()).toBe('before')
    for (const host of hosts) {
      const { stdout } = await host.script(
        'systemctl is-active hyperkube-agent etcd kube-apiserver kube-proxy apiserver-proxy || true',
      )
      expect(new Set(stdout.trim().split('\n')), host.name).toEqual(new Set(['inactive']))
    }
    await expectNetwork()
  },
)

test('kubeadm manages the cluster: upgrade plan and certificates', { timeout }, async () => {
  const { stdout, stderr } = await findHost('cp1').script(
    `kubeadm upgrade plan ${kubernetes} ${ignoreDns} 2>&1`,
  )
  upgradePlan = stdout
  process.stderr.write(`${stdout}${stderr}`)
  expect(stdout).toContain('[upgrade/versions]')
  const certificates = await findHost('cp1').script('kubeadm certs check-expiration 2>&1')
  process.stderr.write(certificates.stdout)
  expect(certificates.stdout).toContain('apiserver-etcd-client')
  const missing = certificates.stdout.split('\n').filter((line) => line.startsWith('!MISSING!'))
  // Only kubeadm init writes super-admin.conf, on one control plane.
  expect(missing.map((line) => line.split(/ +/)[1])).toEqual(['super-admin.conf'])
})

test('a second run changes nothing', { timeout }, async () => {
  await runEject('w1')
  await waitForNodes()
  expect(await readState()).toEqual(before)
})

test('--undo returns the hosts to hyperkube, which has nothing to change', { timeout }, async () => {
  const { hosts, operator } = clusterNow()
  for (const host of hosts.toReversed()) {
    await runEject(host.name, '--undo')
    await waitForNodes()
  }
  await runKubectl('delete', '-f', join(directory(), 'cluster/objects.yaml'))
  await expectNetwork()
  expect(await readState()).toEqual(before)
  await operator.must(0, 'plan')
  await writeFile(evidence, formatEvidence())
})

function formatEvidence(): string {
  const rows = Object.entries(seconds).map(
    ([run, took]) => `| \`eject.sh\` on ${run} | ${took.toFixed(0)} s |`,
  )
  const lines = upgradePlan.split('\n').filter((line) => /versions\]|up-to-date|etcd/.test(line))
  return `# A cluster handed over to kubeadm and back, 1+1

Written by \`test/full/eject.test.ts\` on ${new Date().toISOString().slice(0, 10)}: Kubernetes ${kubernetes}, one control plane and one worker of the lab. The
machine has two cores, and other work shared it.

| run | time |
|---|---|
${rows.join('\n')}

The test also shows:

- Before and after, in both directions: the same cluster and member of etcd, the same pods with the same containers, and a Secret that API servers
  of hyperkube encrypted.
- Pods reach each other and a Service, and \`kubectl logs\` and \`exec\` work, after the move and after the return.
- kube-proxy runs as a DaemonSet, flanneld and kube-router as services.
- \`kubeadm certs check-expiration\` finds all certificates except super-admin.conf, which is not written, and \`kubeadm upgrade plan ${kubernetes} ${ignoreDns}\` ends with exit code 0:

\`\`\`
${lines.join('\n')}
\`\`\`

- A second run of \`eject.sh\` changes nothing. After \`--undo\` on both hosts, \`hyperkube plan\` has no changes.

Not shown: several control planes, \`kubeadm upgrade apply\`, packages of a distribution, a reboot, a virtual IP, NetworkPolicy, images from
registry.k8s.io instead of those of the lab.
`
}
