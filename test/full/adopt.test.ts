import { X509Certificate } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { selectVersions } from '../../lab/cluster/artifacts.ts'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { privateFiles } from '../../src/identity/private-files.ts'
import { readIdentity, readKeyFile } from '../../src/identity/store.ts'
import type { CommandResult } from '../../src/kit/command.ts'
import { issueClientCertificate } from '../support/client-certificate.ts'
import { type HostState, programStates, readStates, settingsStates } from '../support/host-states.ts'
import { createKubeadmCluster, type KubeadmCluster } from '../support/kubeadm-cluster.ts'

const version = 'v1.36.4'
const shape = '1+1'
const evidence = join(import.meta.dirname, '../../docs/evidence/adopt.md')
const timeout = 1_200_000

const versions = selectVersions(version)
const states = { ...settingsStates, ...programStates }

const reportSchema = z.looseObject({
  kind: z.literal('AdoptionReport'),
  kubernetes: z.string(),
  hosts: z.array(z.looseObject({ name: z.string(), roles: z.array(z.string()) })),
  items: z.array(z.looseObject({ verdict: z.string(), code: z.string(), message: z.string() })),
  files: z.array(z.string()),
})

describe(`adoption of a kubeadm cluster, ${shape}, ${version}`, () => {
  let cluster: KubeadmCluster
  let hosts: readonly Host[] = []
  let directory = ''
  let before: ReadonlyMap<string, HostState> = new Map()

  const path = (name: string): string => cluster.path(name)
  const hyperkube = async (...args: readonly string[]): Promise<CommandResult> => cluster.hyperkube(...args)
  const adopt = async (named: readonly Host[], ...args: readonly string[]): Promise<CommandResult> =>
    cluster.adopt(named, ...args)
  const requireHost = (index: number): Host => {
    const host = hosts[index]
    if (host === undefined) throw new Error(`there is no host ${index}`)
    return host
  }
  const requireUnchanged = async (): Promise<void> => {
    const after = await readStates(hosts, states)
    for (const host of hosts)
      for (const title of Object.keys(states))
        expect(after.get(host.name)?.[title], `${title} of ${host.name}`).toBe(before.get(host.name)?.[title])
  }

  beforeAll(async () => {
    cluster = await createKubeadmCluster({ name: 'adopt', shape, version, executable: inject('executable') })
    ;({ hosts, directory } = cluster)
    before = await readStates(hosts, states)
  }, timeout)
  afterAll(async () => cluster[Symbol.asyncDispose](), timeout)

  test('a dry run reports that the cluster can be adopted, and writes nothing', { timeout }, async () => {
    const empty = [...before].flatMap(([name, state]) =>
      Object.entries(state).flatMap(([title, text]) => (text.trim() === '' ? [`${title} of ${name}`] : [])),
    )
    expect(empty).toEqual([])
    const { code, stdout, stderr } = await adopt(hosts, '--dry-run', '-o', 'json')
    expect(stderr).not.toContain('PRIVATE KEY')
    const report = reportSchema.parse(JSON.parse(stdout))
    expect(report.items.filter(({ verdict }) => verdict === 'prevents')).toEqual([])
    expect(code).toBe(0)
    expect(report.kubernetes).toBe(version.slice(1))
    expect(report.hosts.map(({ name, roles }) => [name, roles.join()])).toEqual([
      ['cp1', 'control-plane'],
      ['w1', 'worker'],
    ])
    expect(await readdir(directory)).toEqual(['.ssh'])
    await requireUnchanged()
  })

  test(
    'a node that is not named, and a dirty host, are refused before any file is written',
    { timeout },
    async () => {
      const missing = await adopt(hosts.slice(0, 1), '--yes')
      expect(missing).toMatchObject({ code: 1, stdout: expect.stringContaining('ADOPT_HOST_MISSING') })
      const worker = requireHost(1)
      await worker.script('mkdir -p /var/lib/rancher/k3s')
      // The comparison must be able to fail.
      await expect(requireUnchanged()).rejects.toThrow('paths, owners and modes of w1')
      const dirty = await adopt(hosts, '--yes')
      await worker.script('rmdir -p --ignore-fail-on-non-empty /var/lib/rancher/k3s')
      expect(dirty).toMatchObject({ code: 1, stdout: expect.stringContaining('ADOPT_HOST_DIRTY') })
      expect(await readdir(directory)).toEqual(['.ssh'])
    },
  )

  test('the written files describe the cluster, and its hosts are unchanged', { timeout }, async () => {
    const started = performance.now()
    const { code, stdout, stderr } = await adopt(hosts, '--yes', '--no-lock')
    const seconds = (performance.now() - started) / 1000
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('cluster.identity') })
    expect(stdout + stderr).not.toContain('PRIVATE KEY')
    const identity = await readIdentity(
      privateFiles(),
      path('cluster.identity'),
      await readKeyFile(privateFiles(), path('hyperkube/keys/shop.key')),
    )
    expect(identity.adoption).toMatchObject({ from: 'kubeadm' })
    const control = requireHost(0)
    const files = { kubernetes: 'ca', etcd: 'etcd/ca', frontProxy: 'front-proxy-ca' } as const
    for (const [name, file] of Object.entries(files)) {
      const pem = (await control.exec(['cat', `/etc/kubernetes/pki/${file}.crt`])).stdout
      const { certificate } =
        identity.cas[name === 'etcd' ? 'etcd' : name === 'frontProxy' ? 'frontProxy' : 'kubernetes']
      expect(new X509Certificate(certificate).fingerprint256).toBe(new X509Certificate(pem).fingerprint256)
    }
    const publicKey = (await control.exec(['cat', '/etc/kubernetes/pki/sa.pub'])).stdout
    expect(identity.serviceAccount.publicKey.trim()).toBe(publicKey.trim())

    // The running API server and etcd accept certificates that the imported keys sign.
    const admin = await issueClientCertificate(identity, 'kubernetes', 'test', ['system:masters'])
    const api = new KubeApi(`https://${control.address}:6443`, admin)
    const etcd = new KubeApi(
      `https://${control.address}:2379`,
      await issueClientCertificate(identity, 'etcd', 'test', []),
    )
    try {
      const { items } = await api.get<{ items: { metadata: { name: string } }[] }>('/api/v1/nodes')
      expect(items.map(({ metadata }) => metadata.name)).toEqual(['cp1', 'w1'])
      expect(await etcd.get<{ etcdserver: string }>('/version')).toHaveProperty('etcdserver')
    } finally {
      api.close()
      etcd.close()
    }
    expect(parse(await readFile(path('cluster.yml'), 'utf8'))).toMatchObject({
      metadata: { name: 'shop' },
      spec: {
        kubernetes: version.slice(1),
        network: { plugin: 'none', kubeProxy: 'none' },
      },
    })
    expect(await hyperkube('validate', '-f', path('cluster.yml'))).toMatchObject({ code: 0 })
    await requireUnchanged()
    await writeFile(evidence, await formatEvidence(stdout, seconds))
  })

  test('a lock can be written, and a reset of the cluster is refused', { timeout }, async () => {
    expect(await cluster.lock()).toMatchObject({ code: 0 })
    expect(await hyperkube('reset', '--yes', '-f', path('cluster.yml'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ADOPT_NOT_COMMITTED'),
    })
    await requireUnchanged()
  })

  async function formatEvidence(report: string, seconds: number): Promise<string> {
    const { stdout: system } = await requireHost(0).script('. /etc/os-release; echo "$PRETTY_NAME"')
    const { stdout: containerd } = await requireHost(0).script("containerd --version | cut -d' ' -f3")
    return `# A kubeadm cluster read for adoption

Written by \`test/full/adopt.test.ts\` on ${new Date().toISOString().slice(0, 10)}: kubeadm ${version}, etcd ${versions.etcd}, containerd ${containerd.trim()}, ${shape} hosts of
the lab (${system.trim()}), one network. \`hyperkube adopt --from-kubeadm --yes --no-lock\` took ${seconds.toFixed(1)} s on a machine that
other work shared.

The test compares each host before and after. Nothing differed in ${Object.keys(states).join('; ')}.
Not compared: /run, /tmp, log files, the journal, access times, and the data of etcd, kubelets, containerd and systemd.

The test also shows:

- The identity has the CAs and the service account key of the cluster. The running API server and etcd accept client certificates that
  hyperkube signs with the imported RSA keys.
- \`hyperkube validate\` accepts the written cluster.yml, and \`hyperkube lock\` writes its lock.
- \`reset\` refuses the cluster with \`ADOPT_NOT_COMMITTED\`.
- A node whose host was not named, and a host with files of k3s, are refused with exit code 1. No file was written.

Not shown: RKE1 hosts, several control planes, encrypted Secrets, and dual-stack networks. Their rules have unit tests only.

## The report

\`\`\`text
${report.trim()}
\`\`\`
`
  }
})
