import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { until } from '../../src/kit/poll-until.ts'
import { makeRequest } from '../../src/pki/request.ts'
import { signRequest } from '../../src/pki/sign.ts'
import { ApiLoad, type LoadFigures } from './api-load.ts'
import { asForeseen, foresee } from './dry-run.ts'
import { etcdctl } from './etcdctl.ts'
import { credentialsIn } from './kubeconfig.ts'
import { LoadProcess } from './load-process.ts'
import { nodesReady } from './membership.ts'
import { more } from './proxied-api.ts'
import type { UpCluster } from './up-cluster.ts'

const list = z.object({
  certificates: z.array(
    z.looseObject({ host: z.string(), file: z.string(), state: z.string(), signedBy: z.string().optional() }),
  ),
  authorities: z.array(z.looseObject({ authority: z.string(), use: z.string() })),
})
const secret = z.object({ data: z.object({ word: z.string() }) })
const roots = z.object({ items: z.array(z.object({ data: z.record(z.string(), z.string()) })) })

/** Of requests, by those who use the cluster meanwhile. */
const perSecond = 50

/**
 * Keys of a cluster that runs change hands. It comes last: after it kubeconfigs and clients from before are of no use. With
 * several control planes it is done under load, and nobody may notice.
 */
export function keysSuite(clusterNow: () => UpCluster): void {
  const must = async (code: number, ...words: readonly string[]) =>
    clusterNow().operator.must(code, 'certs', ...words)
  const listed = async () => list.parse(JSON.parse((await must(0, 'list', '-o', 'json')).stdout))

  test('every certificate of every host is listed, and is good', async () => {
    const { certificates, authorities } = await listed()
    expect(new Set(certificates.map(({ host }) => host)).size).toBe(clusterNow().hosts.length)
    expect(new Set(certificates.map(({ state, signedBy }) => `${state} ${signedBy}`))).toEqual(
      new Set(['good current']),
    )
    expect(authorities).toHaveLength(3)
  })

  test('new keys for all certificates of one host', { timeout: 300_000 }, async () => {
    const worker = lastOf(clusterNow())
    const file = '/etc/hyperkube/kubelet/client.crt'
    const before = await worker.script(`cat ${file}`)
    const { operator, hosts } = clusterNow()
    await asForeseen(operator, hosts, ['certs', 'renew', worker.name])
    expect((await worker.script(`cat ${file}`)).stdout).toBe(before.stdout)
    await asForeseen(operator, hosts, ['certs', 'renew', worker.name, '--all'])
    expect((await worker.script(`cat ${file}`)).stdout).not.toBe(before.stdout)
    await clusterNow().operator.must(0, 'up', '--dry-run')
  })

  test('a node whose certificate has expired comes back with one command', { timeout: 600_000 }, async () => {
    const { operator } = clusterNow()
    const worker = lastOf(clusterNow())
    const subject = { commonName: `system:node:${worker.name}`, organizations: ['system:nodes'] }
    const names = { dns: [], ip: [] }
    const { request, privateKey } = await makeRequest('kubelet', subject, names)
    const { authorities } = await operator.identity()
    const wish = { subject, names, usages: ['client'] as const, lifetime: 60_000 }
    const brief = await signRequest(authorities.kubernetes, request, wish, new Date())
    const directory = '/etc/hyperkube/kubelet'
    await worker.exec(['sh', '-c', `cat > ${directory}/client.key`], { input: privateKey.revealText() })
    await worker.exec(['sh', '-c', `cat > ${directory}/client.crt`], { input: brief })
    await worker.script('systemctl restart kubelet')
    const stateOf = async (): Promise<string | undefined> => {
      const { stdout } = await operator.hyperkube('certs', 'list', worker.name, '-o', 'json')
      const { certificates } = list.parse(JSON.parse(stdout))
      return certificates.find(({ file }) => file === `${directory}/client.crt`)?.state
    }
    await until('it to expire', async () => (await stateOf()) === 'expired', { within: 120_000, every: 2000 })
    // A connection that is open is not asked again.
    await worker.script('systemctl restart kubelet')
    await until('the node to be missed', async () => !(await isReady(clusterNow(), worker)), {
      within: 180_000,
      every: 1000,
    })
    await must(0, 'renew', worker.name, '--yes')
    await until('the node to be back', async () => isReady(clusterNow(), worker), { within: 120_000 })
    expect(await stateOf()).toBe('good')
  })

  test(
    'a new key for Secrets, and nothing of the former one is left in etcd',
    { timeout: 900_000 },
    async () => {
      const cluster = clusterNow()
      const collection = '/api/v1/namespaces/default/secrets'
      const word = Buffer.from('well kept').toString('base64')
      const api = await apiOf(cluster)
      try {
        for (let index = 0; index < 600; index++) {
          const metadata = { name: `kept-${index}` }
          await api.ensure(collection, { apiVersion: 'v1', kind: 'Secret', metadata, data: { word } })
        }
        expect(await encryptedWith(cluster, 'key1')).toBeGreaterThanOrEqual(600)
        const rotated = ['certs', 'rotate-key', 'encryption'] as const
        const { figures } = await underLoad(cluster, async () =>
          asForeseen(cluster.operator, cluster.hosts, rotated, { goesOn: true }),
        )
        expect(figures?.failed ?? []).toEqual([])
        expect(await encryptedWith(cluster, 'key1')).toBe(0)
        expect(await encryptedWith(cluster, 'key2')).toBeGreaterThanOrEqual(600)
        expect(secret.parse(await api.get(`${collection}/kept-599`)).data.word).toBe(word)
      } finally {
        api.close()
      }
      for (const host of cluster.hosts)
        expect(
          (await host.script('grep -c key1: /etc/hyperkube/*/encryption.yaml || true')).stdout,
        ).not.toMatch(/[1-9]/)
    },
  )

  test('a new authority of etcd, and nobody notices', { timeout: 900_000 }, async () => {
    const { operator, hosts } = clusterNow()
    const rotated = ['certs', 'rotate-ca', 'etcd'] as const
    const { figures } = await underLoad(clusterNow(), async () =>
      asForeseen(operator, hosts, rotated, { goesOn: true }),
    )
    expect(figures?.failed ?? []).toEqual([])
  })

  test(
    'a new authority of the cluster: nothing of the former one is left',
    { timeout: 1_200_000 },
    async () => {
      const cluster = clusterNow()
      const former = new X509Certificate(
        (await cluster.operator.identity()).authorities.kubernetes.certificate,
      )
      const old = await apiOf(cluster)
      const words = ['certs', 'rotate-ca', 'kubernetes', '--restart-pods'] as const
      const foresight = await foresee(cluster, cluster.hosts, words)
      const rotation = cluster.operator.must(0, ...words, '--yes')
      const failed = await acrossAuthorities(cluster, rotation)
      await rotation
      await foresight.kept({ goesOn: true })
      expect(failed).toEqual([])
      await expect(old.text('/version')).rejects.toThrow(/certificate|401/)
      old.close()
      const { certificates, authorities } = await listed()
      expect(new Set(certificates.map(({ state, signedBy }) => `${state} ${signedBy}`))).toEqual(
        new Set(['good current']),
      )
      expect(authorities).toHaveLength(3)
      const pem = former.toString().split('\n')[5] ?? ''
      for (const host of cluster.hosts) {
        const { stdout } = await host.exec(['grep', '-rlF', '-f', '-', '/etc/hyperkube'], {
          input: pem,
          allowFailure: true,
        })
        expect(stdout).toBe('')
      }
      const api = await apiOf(cluster)
      try {
        const { items } = roots.parse(await api.get('/api/v1/configmaps'))
        expect(items.filter(({ data }) => Object.values(data).some((text) => text.includes(pem)))).toEqual([])
        const areReady = async () => (await nodesReady(api)).length === cluster.hosts.length
        await until('all nodes to be ready', areReady, { within: 120_000 })
      } finally {
        api.close()
      }
      await cluster.operator.must(0, 'up', '--dry-run')
    },
  )
}

function lastOf({ hosts }: UpCluster): Host {
  const host = hosts.at(-1)
  if (host === undefined) throw new Error('there is no host')
  return host
}

/** Everything in etcd that is encrypted with the key of a name. */
async function encryptedWith({ hosts }: UpCluster, name: string): Promise<number> {
  const search = `${etcdctl} get --prefix /registry/ --print-value-only | grep -acF k8s:enc:secretbox:v1:${name}: || true`
  return Number((await hosts[0]?.script(search))?.stdout.trim())
}

async function apiOf(cluster: UpCluster): Promise<KubeApi> {
  const credentials = credentialsIn((await cluster.hyperkube('kubeconfig')).stdout)
  return new KubeApi(`https://${cluster.hosts[0]?.address}:6443`, credentials)
}

async function isReady(cluster: UpCluster, { name }: Host): Promise<boolean> {
  const api = await apiOf(cluster)
  try {
    return (await nodesReady(api)).includes(name)
  } finally {
    api.close()
  }
}

/** With one control plane there is nobody to answer while it restarts, so that nobody asks. */
async function loadOn(cluster: UpCluster): Promise<LoadProcess | undefined> {
  const worker = cluster.hosts.find(({ name }) => name.startsWith('w'))
  if (worker === undefined || !cluster.hosts.some(({ name }) => name === 'cp2')) return undefined
  const credentials = credentialsIn((await cluster.hyperkube('kubeconfig')).stdout)
  return new LoadProcess(worker, { host: '127.0.0.1', port: 6444, credentials }, perSecond)
}

async function underLoad(
  cluster: UpCluster,
  work: () => Promise<unknown>,
): Promise<{ readonly figures?: LoadFigures }> {
  await prepared(cluster)
  const load = await loadOn(cluster)
  if (load === undefined) {
    await work()
    return {}
  }
  try {
    await more(load, 3 * perSecond)
    await work()
    await more(load, 3 * perSecond)
  } catch (error) {
    await load.stop()
    throw error
  }
  return { figures: await told(load) }
}

/** Whoever asks has a new kubeconfig from the moment on that the new authority signs. Answers with what failed. */
async function acrossAuthorities(
  cluster: UpCluster,
  rotation: Promise<unknown>,
): Promise<LoadFigures['failed']> {
  // Told where it is awaited.
  rotation.catch(() => undefined)
  await prepared(cluster)
  const before = await loadOn(cluster)
  await until(
    'the new authority to sign',
    async () => (await cluster.operator.identity()).authorities.kubernetes.replacement?.phase === 'switch',
    { within: 600_000, every: 100 },
  )
  const after = await loadOn(cluster)
  const first = before && (await told(before))
  await rotation.catch(() => undefined)
  if (after !== undefined) await more(after, 3 * perSecond)
  const second = after && (await told(after))
  return [...(first?.failed ?? []), ...(second?.failed ?? [])]
}

async function prepared(cluster: UpCluster): Promise<void> {
  const api = await apiOf(cluster)
  await ApiLoad.prepare(api)
  api.close()
}

async function told(load: LoadProcess): Promise<LoadFigures> {
  const figures = await load.stop()
  process.stderr.write(`keys under load: ${JSON.stringify(figures)}\n`)
  return figures
}
