import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { ApiReads, type ReadFigures } from '../support/api-reads.ts'
import { CountedWrites, findLostWrites } from '../support/counted-writes.ts'
import { compareStates, type HostState, readStates, settingsStates } from '../support/host-states.ts'
import { createKubeadmCluster, type KubeadmCluster } from '../support/kubeadm-cluster.ts'

const version = 'v1.36.4'
const shape = process.env['ADOPT_SHAPE'] ?? '1+1'
const evidence = join(import.meta.dirname, `../../docs/evidence/adopt-move-${shape.replace('+', '-')}.md`)
const timeout = 1_500_000

/** Programs of components with their arguments. Their start times differ after a return. */
const programs = {
  ...settingsStates,
  'programs of components':
    "ps -eo args | grep -E '[k]ube-|[k]ubelet|[e]tcd |[c]ontainerd |[f]lanneld' | grep -v shim | sort",
}

/** Start of the kube-proxy container. It changes if containers do not survive. */
const kubeProxyStart = "ps -eo lstart,args | grep '[k]ube-proxy --config'"

/** Files that programs for users rewrite. */
const ignored = /\/etc\/(?:passwd|shadow|group|gshadow|subuid|subgid)-| \/etc\/\.pwd\.lock|\/etc\/\.updated/

interface Row {
  readonly change: string
  readonly seconds: number
  readonly reads: ReadFigures
  readonly acknowledged: number
  readonly refused: number
  readonly lost: number
}

describe(`moving the hosts of a kubeadm cluster, ${shape}, ${version}`, () => {
  let cluster: KubeadmCluster
  let api: KubeApi
  let before: ReadonlyMap<string, HostState> = new Map()
  let containers: readonly string[] = []
  const rows: Row[] = []
  let differences: readonly string[] = []

  const file = (): string => cluster.path('cluster.yml')
  const readContainers = async (): Promise<readonly string[]> =>
    Promise.all(cluster.hosts.map(async (host) => (await host.script(kubeProxyStart)).stdout))

  /** Runs a command while clients read and write objects, and expects that it succeeds. */
  async function runUnderLoad(change: string, ...args: readonly string[]): Promise<CommandResult> {
    const [first] = cluster.hosts
    if (first === undefined) throw new Error('the cluster has no host')
    const addresses = cluster.hosts.filter(({ name }) => name.startsWith('cp')).map(({ address }) => address)
    const credentials = cluster.access.api
    const writes = new CountedWrites(first, { host: first.address, port: 6443, credentials }, 5)
    const reads = new ApiReads(addresses, credentials, 20)
    const started = performance.now()
    const result = await cluster.hyperkube(...args, '-f', file())
    const seconds = (performance.now() - started) / 1000
    const [readFigures, writeFigures] = [await reads.stop(), await writes.stop()]
    process.stderr.write(
      `${change}: ${seconds.toFixed(1)} s, ${JSON.stringify(readFigures)}\n${result.stderr}\n`,
    )
    expect({ code: result.code, stderr: result.stderr }).toMatchObject({ code: 0 })
    const lost = await findLostWrites(api, writeFigures)
    const { acknowledged, refused } = writeFigures
    rows.push({
      change,
      seconds,
      reads: readFigures,
      acknowledged: acknowledged.length,
      refused,
      lost: lost.length,
    })
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(lost).toEqual([])
    return result
  }

  async function expectNodesReady(): Promise<void> {
    const { items } = await api.get<{
      items: { metadata: { name: string }; status: { conditions: { type: string; status: string }[] } }[]
    }>('/api/v1/nodes')
    const ready = items
      .filter(({ status }) => status.conditions.some((one) => one.type === 'Ready' && one.status === 'True'))
      .map(({ metadata }) => metadata.name)
    expect(ready.toSorted()).toEqual(cluster.hosts.map(({ name }) => name).toSorted())
  }

  beforeAll(async () => {
    cluster = await createKubeadmCluster({
      name: 'adopt-move',
      shape,
      version,
      executable: inject('executable'),
    })
    api = new KubeApi(`https://${cluster.hosts[0]?.address}:6443`, cluster.access.api)
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'word' },
      stringData: { word: 'before' },
    }
    await api.create('/api/v1/namespaces/default/secrets', secret)
    before = await readStates(cluster.hosts, programs)
    containers = await readContainers()
  }, timeout)
  afterAll(async () => {
    api.close()
    await cluster[Symbol.asyncDispose]()
  }, timeout)

  test('the cluster can be adopted', { timeout }, async () => {
    expect(await cluster.adopt(cluster.hosts, '--yes', '--no-lock')).toMatchObject({ code: 0 })
    expect(await cluster.lock()).toMatchObject({ code: 0 })
  })

  test('up moves every host; containers run on, and no acknowledged write is lost', { timeout }, async () => {
    await runUnderLoad('there: `hyperkube up`', 'up', '--yes')
    await expectNodesReady()
    expect(await readContainers()).toEqual(containers)
    for (const host of cluster.hosts) {
      const { stdout } = await host.script(
        'systemctl is-active hyperkube-agent kubelet containerd; ls /etc/kubernetes/manifests 2>/dev/null || true',
      )
      expect(stdout, host.name).toBe('active\nactive\nactive\n')
    }
    const plan = await cluster.hyperkube('plan', '-f', file())
    expect({ code: plan.code, text: plan.stdout + plan.stderr }).toMatchObject({ code: 0 })
  })

  test('commands that would end the way back are refused', { timeout }, async () => {
    for (const command of [
      ['reset', '--yes'],
      ['certs', 'rotate-ca', '--yes'],
    ])
      expect(await cluster.hyperkube(...command, '-f', file())).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('ADOPT_NOT_COMMITTED'),
      })
    await expectNodesReady()
  })

  test('adopt rollback returns every host to what it was', { timeout }, async () => {
    await runUnderLoad('back: `hyperkube adopt rollback`', 'adopt', 'rollback', '--yes')
    await expectNodesReady()
    expect(await readContainers()).toEqual(containers)
    const after = await readStates(cluster.hosts, programs)
    differences = compareStates(before, after).filter((line) => !ignored.test(line))
    expect(differences).toEqual([])
    const word = await api.get<{ data: { word: string } }>('/api/v1/namespaces/default/secrets/word')
    expect(Buffer.from(word.data.word, 'base64').toString()).toBe('before')
  })

  test('after another move, the commit ends the way back', { timeout }, async () => {
    await runUnderLoad('there again: `hyperkube up`', 'up', '--yes')
    await runUnderLoad('`hyperkube adopt commit`', 'adopt', 'commit', '--yes')
    await expectNodesReady()
    for (const host of cluster.hosts) {
      const { stdout } = await host.script('ls -d /etc/kubernetes/before-hyperkube 2>/dev/null || true')
      expect(stdout, host.name).toBe('')
    }
    expect(await cluster.hyperkube('adopt', 'rollback', '--yes', '-f', file())).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ADOPT_COMMITTED'),
    })
    const plan = await cluster.hyperkube('plan', '-f', file())
    expect({ code: plan.code, text: plan.stdout + plan.stderr }).toMatchObject({ code: 0 })
    await writeFile(evidence, formatEvidence())
  })

  function formatEvidence(): string {
    const figures = rows.map(
      ({ change, seconds, reads, acknowledged, refused, lost }) =>
        `| ${change} | ${seconds.toFixed(0)} s | ${reads.requests} | ${reads.failed} | ${(reads.longestGapMs / 1000).toFixed(1)} s | ${acknowledged} | ${refused} | ${lost} |`,
    )
    return `# A kubeadm cluster moved to hyperkube and back, ${shape}

Written by \`test/full/adopt-move.test.ts\` on ${new Date().toISOString().slice(0, 10)}: kubeadm ${version}, ${shape} hosts of the lab, flannel and kube-router as services of the
hosts, kube-proxy as a DaemonSet. The machine has two cores, and other work shared it.

Clients read one object 20 times a second, from any API server, and create 5 objects a second at the first one, with one retry.

| change | time | reads | failed | longest gap | acknowledged writes | refused writes | lost |
|---|---|---|---|---|---|---|---|
${figures.join('\n')}

The test also shows:

- The containers of kube-proxy had the same start time before and after the move, and after the way back.
- \`hyperkube plan\` has no changes after the move.
- \`reset\` and \`certs rotate-ca\` are refused before the commit, \`adopt rollback\` after it.
- After the way back, hosts had the same files in /etc, /opt, /usr/local, /root and /home, the same paths with owners and modes, the same users, units
  and programs with their arguments. Not compared: files that programs for users rewrite (such as /etc/passwd-), /run, /tmp, /var/log, and the data
  of etcd, kubelets, containerd and systemd.

Not shown: other workloads than kube-proxy, encrypted Secrets, other versions of containerd or etcd than those of cluster.lock, a power cut.
`
  }
})
