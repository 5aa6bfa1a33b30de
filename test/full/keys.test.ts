import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { makeRequest } from '../../src/pki/request.ts'
import { signRequest } from '../../src/pki/sign.ts'
import { ApiLoad, type LoadFigures } from '../support/api-load.ts'
import { recordDryRun, runAsPlanned } from '../support/dry-run.ts'
import { etcdctl } from '../support/etcdctl.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { LoadProcess } from '../support/load-process.ts'
import { listReadyNodes } from '../support/membership.ts'
import { waitForRequests } from '../support/proxied-api.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

const certificateList = z.object({
  certificates: z.array(
    z.looseObject({ host: z.string(), file: z.string(), state: z.string(), signedBy: z.string().optional() }),
  ),
  cas: z.array(z.looseObject({ ca: z.string(), use: z.string() })),
})
const secret = z.object({ data: z.object({ word: z.string() }) })
// A ConfigMap can be without data, such as hyperkube-removed-hosts.
const roots = z.object({ items: z.array(z.object({ data: z.record(z.string(), z.string()).default({}) })) })

/** API requests per second during rotations. */
const perSecond = 50

/**
 * Rotates the keys of a running cluster. This suite must run last, because earlier kubeconfigs stop working.
 * With several control planes it runs under load, and every request must succeed.
 */
function keysSuite(clusterNow: () => UpCluster): void {
  const runCerts = async (code: number, ...args: readonly string[]) =>
    clusterNow().operator.must(code, 'certs', ...args)
  const listCertificates = async () =>
    certificateList.parse(JSON.parse((await runCerts(0, 'list', '-o', 'json')).stdout))

  test('every certificate of every host is listed as good', async () => {
    const { certificates, cas } = await listCertificates()
    expect(new Set(certificates.map(({ host }) => host)).size).toBe(clusterNow().hosts.length)
    expect(new Set(certificates.map(({ state, signedBy }) => `${state} ${signedBy}`))).toEqual(
      new Set(['good current']),
    )
    expect(cas).toHaveLength(3)
  })

  test('certs renew --all replaces the keys and certificates of one host', { timeout: 300_000 }, async () => {
    const worker = getLastHost(clusterNow())
    const file = '/etc/hyperkube/kubelet/client.crt'
    const before = await worker.script(`cat ${file}`)
    const { operator, hosts } = clusterNow()
    await runAsPlanned(operator, hosts, ['certs', 'renew', worker.name])
    expect((await worker.script(`cat ${file}`)).stdout).toBe(before.stdout)
    await runAsPlanned(operator, hosts, ['certs', 'renew', worker.name, '--all'])
    expect((await worker.script(`cat ${file}`)).stdout).not.toBe(before.stdout)
    await clusterNow().operator.must(0, 'up', '--dry-run')
  })

  test('certs renew restores a node with an expired certificate', { timeout: 600_000 }, async () => {
    const { operator } = clusterNow()
    const worker = getLastHost(clusterNow())
    const subject = { commonName: `system:node:${worker.name}`, organizations: ['system:nodes'] }
    const names = { dns: [], ip: [] }
    const { request, privateKey } = await makeRequest('kubelet', subject, names)
    const { cas } = await operator.identity()
    const spec = { subject, names, usages: ['client'] as const, lifetime: 60_000 }
    const shortLived = await signRequest(cas.kubernetes, request, spec, new Date())
    const directory = '/etc/hyperkube/kubelet'
    await worker.exec(['sh', '-c', `cat > ${directory}/client.key`], { input: privateKey.revealText() })
    await worker.exec(['sh', '-c', `cat > ${directory}/client.crt`], { input: shortLived })
    await worker.script('systemctl restart kubelet')
    const readCertificateState = async (): Promise<string | undefined> => {
      const { stdout } = await operator.hyperkube('certs', 'list', worker.name, '-o', 'json')
      const { certificates } = certificateList.parse(JSON.parse(stdout))
      return certificates.find(({ file }) => file === `${directory}/client.crt`)?.state
    }
    await pollUntil('it to expire', async () => (await readCertificateState()) === 'expired', {
      timeoutMs: 120_000,
      intervalMs: 2000,
    })
    // The restart makes the kubelet authenticate again; open connections stay authenticated.
    await worker.script('systemctl restart kubelet')
    await pollUntil('the node to be NotReady', async () => !(await isReady(clusterNow(), worker)), {
      timeoutMs: 180_000,
      intervalMs: 1000,
    })
    await runCerts(0, 'renew', worker.name, '--yes')
    await pollUntil('the node to be back', async () => isReady(clusterNow(), worker), { timeoutMs: 120_000 })
    expect(await readCertificateState()).toBe('good')
  })

  test(
    'a rotated encryption key for Secrets leaves no data of the previous key in etcd',
    { timeout: 900_000 },
    async () => {
      const cluster = clusterNow()
      const collection = '/api/v1/namespaces/default/secrets'
      const word = Buffer.from('well kept').toString('base64')
      const api = await openApi(cluster)
      try {
        for (let index = 0; index < 600; index++) {
          const metadata = { name: `kept-${index}` }
          await api.ensure(collection, { apiVersion: 'v1', kind: 'Secret', metadata, data: { word } })
        }
        expect(await countEncryptedWith(cluster, 'key1')).toBeGreaterThanOrEqual(600)
        const args = ['certs', 'rotate-key', 'encryption'] as const
        const { figures } = await runUnderLoad(cluster, async () =>
          runAsPlanned(cluster.operator, cluster.hosts, args, { allowMore: true }),
        )
        expect(figures?.failed ?? []).toEqual([])
        expect(await countEncryptedWith(cluster, 'key1')).toBe(0)
        expect(await countEncryptedWith(cluster, 'key2')).toBeGreaterThanOrEqual(600)
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

  test('a rotation of the etcd CA fails no request', { timeout: 900_000 }, async () => {
    const { operator, hosts } = clusterNow()
    const args = ['certs', 'rotate-ca', 'etcd'] as const
    const { figures } = await runUnderLoad(clusterNow(), async () =>
      runAsPlanned(operator, hosts, args, { allowMore: true }),
    )
    expect(figures?.failed ?? []).toEqual([])
  })

  test(
    'a rotation of the cluster CA leaves no trace of the previous CA',
    { timeout: 1_200_000 },
    async () => {
      const cluster = clusterNow()
      const previousCa = new X509Certificate((await cluster.operator.identity()).cas.kubernetes.certificate)
      const previousApi = await openApi(cluster)
      const args = ['certs', 'rotate-ca', 'kubernetes', '--restart-pods'] as const
      const dryRun = await recordDryRun(cluster, cluster.hosts, args)
      const rotation = cluster.operator.must(0, ...args, '--yes')
      const failed = await loadAcrossCaRotation(cluster, rotation)
      await rotation
      await dryRun.expectDone({ allowMore: true })
      expect(failed).toEqual([])
      await expect(previousApi.text('/version')).rejects.toThrow(/certificate|401/)
      previousApi.close()
      const { certificates, cas } = await listCertificates()
      expect(new Set(certificates.map(({ state, signedBy }) => `${state} ${signedBy}`))).toEqual(
        new Set(['good current']),
      )
      expect(cas).toHaveLength(3)
      const pem = previousCa.toString().split('\n')[5] ?? ''
      for (const host of cluster.hosts) {
        const { stdout } = await host.exec(['grep', '-rlF', '-f', '-', '/etc/hyperkube'], {
          input: pem,
          allowFailure: true,
        })
        expect(stdout).toBe('')
      }
      const api = await openApi(cluster)
      try {
        const { items } = roots.parse(await api.get('/api/v1/configmaps'))
        expect(items.filter(({ data }) => Object.values(data).some((text) => text.includes(pem)))).toEqual([])
        const areReady = async () => (await listReadyNodes(api)).length === cluster.hosts.length
        await pollUntil('all nodes to be ready', areReady, { timeoutMs: 120_000 })
      } finally {
        api.close()
      }
      await cluster.operator.must(0, 'up', '--dry-run')
    },
  )
}

function getLastHost({ hosts }: UpCluster): Host {
  const host = hosts.at(-1)
  if (host === undefined) throw new Error('there is no host')
  return host
}

/** Counts the values in etcd that are encrypted with this key. */
async function countEncryptedWith({ hosts }: UpCluster, name: string): Promise<number> {
  const search = `${etcdctl} get --prefix /registry/ --print-value-only | grep -acF k8s:enc:secretbox:v1:${name}: || true`
  return Number((await hosts[0]?.script(search))?.stdout.trim())
}

async function openApi(cluster: UpCluster): Promise<KubeApi> {
  const credentials = parseKubeconfig((await cluster.hyperkube('kubeconfig')).stdout)
  return new KubeApi(`https://${cluster.hosts[0]?.address}:6443`, credentials)
}

async function isReady(cluster: UpCluster, { name }: Host): Promise<boolean> {
  const api = await openApi(cluster)
  try {
    return (await listReadyNodes(api)).includes(name)
  } finally {
    api.close()
  }
}

/**
 * Starts load on the API. Returns undefined for a cluster without workers, or with one control plane, whose
 * API is unavailable during restarts.
 */
async function startLoad(cluster: UpCluster): Promise<LoadProcess | undefined> {
  const worker = cluster.hosts.find(({ name }) => name.startsWith('w'))
  if (worker === undefined || !cluster.hosts.some(({ name }) => name === 'cp2')) return undefined
  const credentials = parseKubeconfig((await cluster.hyperkube('kubeconfig')).stdout)
  return new LoadProcess(worker, { host: '127.0.0.1', port: 6444, credentials }, perSecond)
}

async function runUnderLoad(
  cluster: UpCluster,
  work: () => Promise<unknown>,
): Promise<{ readonly figures?: LoadFigures }> {
  await prepareLoad(cluster)
  const load = await startLoad(cluster)
  if (load === undefined) {
    await work()
    return {}
  }
  try {
    await waitForRequests(load, 3 * perSecond)
    await work()
    await waitForRequests(load, 3 * perSecond)
  } catch (error) {
    await load.stop()
    throw error
  }
  return { figures: await stopLoad(load) }
}

/**
 * Runs load during a rotation of the CA, and switches to a new kubeconfig when the new CA signs certificates.
 * Returns the failed requests.
 */
async function loadAcrossCaRotation(
  cluster: UpCluster,
  rotation: Promise<unknown>,
): Promise<LoadFigures['failed']> {
  // Prevents an unhandled rejection. The caller awaits the same promise and gets its error.
  rotation.catch(() => undefined)
  await prepareLoad(cluster)
  const before = await startLoad(cluster)
  await pollUntil(
    'the new CA to sign',
    async () => (await cluster.operator.identity()).cas.kubernetes.replacement?.phase === 'switch',
    { timeoutMs: 600_000, intervalMs: 100 },
  )
  const after = await startLoad(cluster)
  const first = before && (await stopLoad(before))
  await rotation.catch(() => undefined)
  if (after !== undefined) await waitForRequests(after, 3 * perSecond)
  const second = after && (await stopLoad(after))
  return [...(first?.failed ?? []), ...(second?.failed ?? [])]
}

async function prepareLoad(cluster: UpCluster): Promise<void> {
  const api = await openApi(cluster)
  await ApiLoad.prepare(api)
  api.close()
}

async function stopLoad(load: LoadProcess): Promise<LoadFigures> {
  const figures = await load.stop()
  process.stderr.write(`keys under load: ${JSON.stringify(figures)}\n`)
  return figures
}

describe('keys of a cluster under load', () => {
  keysSuite(setUpCluster('keys', '3+2', '1.37.1', { addons: true }))
})
