import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { expect } from 'vitest'
import { selectIngressHosts } from '../../lab/bench/addon-checks.ts'
import { probe, listProbePods } from '../../lab/bench/workload.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import type { KubernetesVersion } from '../../lab/components/parts.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { openKubectl } from './kubectl.ts'
import { resolveName, runInPod } from './pod-shell.ts'
import { externalName } from './test-dns-server.ts'
import type { UpCluster } from './up-cluster.ts'

const site = 'shop.example'

/** Looks up names inside and outside the cluster from every node. The probe pod must run on every node. */
export async function expectNamesResolve(cluster: UpCluster): Promise<void> {
  const { api } = cluster
  await api.ensure('/api/v1/namespaces/default/services', headlessService)
  const all = await listProbePods(cluster.api)
  const addresses = all.map(({ address }) => address).toSorted()
  for (const pod of all) {
    await pollUntil(
      `${pod.node} to know all pods behind the service`,
      async () => (await resolveName(api, pod, 'probe-pods')).length === all.length,
      { timeoutMs: 90_000 },
    )
    expect(await resolveName(api, pod, 'probe-pods')).toEqual(addresses)
    expect(await resolveName(api, pod, probe.name)).toEqual([probe.clusterIP])
    const podDnsName = `${pod.address.replaceAll('.', '-')}.default.pod.cluster.local`
    expect(await resolveName(api, pod, podDnsName)).toEqual([pod.address])
    expect(await resolveName(api, pod, externalName.name)).toEqual([externalName.address])
  }
}

export async function expectCoreDnsSpread(cluster: UpCluster): Promise<void> {
  const nodes = await listNodeNames(cluster, 'kube-system', 'k8s-app=kube-dns')
  expect(new Set(nodes).size).toBe(2)
}

export async function expectLookupsWhileCoreDnsDies(cluster: UpCluster): Promise<void> {
  const { api } = cluster
  const pending = (await listProbePods(cluster.api)).map(async (pod) =>
    runInPod(api, pod, buildLookupScript(20)),
  )
  const [first] = await listPodNames(cluster, 'kube-system', 'k8s-app=kube-dns')
  await api.remove(`/api/v1/namespaces/kube-system/pods/${first}`, { gracePeriodSeconds: 0 })
  for (const output of await Promise.all(pending)) expect(output.trim()).toBe('20 ok, 0 failed')
}

export async function expectUsageOfNodesAndPods(
  cluster: UpCluster,
  kubernetes: KubernetesVersion,
): Promise<void> {
  await using kubectl = await openKubectl(cluster, kubernetes)
  const nodes = await pollUntil(
    'all nodes to be measured',
    async () => {
      const { stdout } = await kubectl.run('top', 'nodes', '--no-headers').catch(() => ({ stdout: '' }))
      const lines = stdout.trim().split('\n')
      return lines.length === cluster.hosts.length && !stdout.includes('unknown') && lines
    },
    { timeoutMs: 120_000, intervalMs: 2000 },
  )
  for (const line of nodes) expect(line).toMatch(/^\S+\s+\d+m\s+\d+%\s+\d+Mi/)
  // A pod is measured only after its second scrape, which can be later than that of its node.
  await pollUntil(
    'the pods of coredns to be measured',
    async () => {
      const { stdout } = await kubectl.run('top', 'pods', '-A', '--no-headers').catch(() => ({ stdout: '' }))
      return stdout.includes('coredns')
    },
    { timeoutMs: 120_000, intervalMs: 2000 },
  )
  const service = await cluster.api.text('/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io')
  expect(JSON.parse(service).spec).not.toHaveProperty('insecureSkipTLSVerify')
}

export async function expectIngressServed(cluster: UpCluster): Promise<void> {
  const { api, hosts, directory } = cluster
  const { certificate, key } = await createSelfSigned(directory)
  await api.ensure('/api/v1/namespaces/default/secrets', buildTlsSecret(certificate, key))
  await api.ensure('/apis/networking.k8s.io/v1/namespaces/default/ingresses', ingress)
  const names = (await listProbePods(cluster.api)).map(({ name }) => name)
  for (const { name, address } of selectIngressHosts(hosts)) {
    const hostname = await pollUntil(
      `${name} to serve ${site}`,
      async () => fetchSite(address, certificate),
      {
        timeoutMs: 60_000,
      },
    )
    expect(names, name).toContain(hostname)
  }
}

export async function expectVolumeKeepsData(cluster: UpCluster): Promise<void> {
  const { api } = cluster
  const word = randomUUID()
  await api.ensure('/api/v1/namespaces/default/persistentvolumeclaims', volumeClaim)
  await api.create(
    '/api/v1/namespaces/default/pods',
    buildPodWithClaim('writer', `echo ${word} > /data/word`),
  )
  await waitForPod(cluster, 'writer')
  await api.remove('/api/v1/namespaces/default/pods/writer', { gracePeriodSeconds: 0 })
  await api.create('/api/v1/namespaces/default/pods', buildPodWithClaim('reader', 'cat /data/word'))
  await waitForPod(cluster, 'reader')
  expect((await api.text('/api/v1/namespaces/default/pods/reader/log')).trim()).toBe(word)
  await api.remove('/api/v1/namespaces/default/pods/reader', { gracePeriodSeconds: 0 })
  await api.remove('/api/v1/namespaces/default/persistentvolumeclaims/notes')
}

const headlessService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'probe-pods' },
  spec: { clusterIP: 'None', selector: { app: probe.name }, ports: [{ port: probe.port }] },
}

/** Script that looks up a service `count` times and prints how many lookups succeeded and failed. */
function buildLookupScript(count: number): string {
  return `ok=0; failed=0
    for i in $(seq ${count}); do
      if nslookup ${probe.name}.default.svc.cluster.local >/dev/null 2>&1; then ok=$((ok + 1)); else failed=$((failed + 1)); fi
      usleep 200000
    done
    echo "$ok ok, $failed failed"`
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly spec: { readonly nodeName: string }
  }[]
}

async function listPods({ api }: UpCluster, inNamespace: string, selector: string): Promise<PodList> {
  const query = new URLSearchParams({ labelSelector: selector })
  return api.get<PodList>(`/api/v1/namespaces/${inNamespace}/pods?${query.toString()}`)
}

async function listPodNames(cluster: UpCluster, inNamespace: string, selector: string): Promise<string[]> {
  return (await listPods(cluster, inNamespace, selector)).items.map(({ metadata }) => metadata.name)
}

async function listNodeNames(cluster: UpCluster, inNamespace: string, selector: string): Promise<string[]> {
  return (await listPods(cluster, inNamespace, selector)).items.map(({ spec }) => spec.nodeName)
}

function buildTlsSecret(certificate: string, key: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'shop-tls' },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': certificate, 'tls.key': key },
  }
}

const ingress = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name: 'shop' },
  spec: {
    tls: [{ hosts: [site], secretName: 'shop-tls' }],
    rules: [
      {
        host: site,
        http: {
          paths: [
            {
              path: '/',
              pathType: 'Prefix',
              backend: { service: { name: probe.name, port: { number: 80 } } },
            },
          ],
        },
      },
    ],
  },
}

async function createSelfSigned(
  directory: string,
): Promise<{ readonly certificate: string; readonly key: string }> {
  const [key, certificate] = [join(directory, 'site.key'), join(directory, 'site.crt')]
  await runProgram([
    ...(['openssl', 'req', '-x509', '-nodes', '-days', '2', '-newkey', 'ec', '-pkeyopt'] as const),
    ...['ec_paramgen_curve:P-256', '-subj', `/CN=${site}`, '-addext', `subjectAltName=DNS:${site}`],
    ...['-keyout', key, '-out', certificate],
  ])
  return { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') }
}

/** Fetches the site from a node. Returns undefined unless the node presents the certificate of the site. */
async function fetchSite(address: string, caCertificate: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = {
      host: address,
      servername: site,
      ca: caCertificate,
      headers: { host: site },
      timeout: 5000,
    }
    const outgoing = request({ ...options, path: '/hostname', agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString() : undefined),
      )
    })
    outgoing.on('error', () => resolve(undefined))
    outgoing.on('timeout', () => outgoing.destroy())
    outgoing.end()
  })
}

const volumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'notes' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } },
}

function buildPodWithClaim(name: string, script: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'main',
          image: testImage,
          command: ['sh', '-c', script],
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'notes' } }],
    },
  }
}

async function waitForPod({ api }: UpCluster, name: string): Promise<void> {
  await pollUntil(
    `pod ${name} to end well`,
    async () => {
      const pod = await api.get<{ status: { phase: string } }>(`/api/v1/namespaces/default/pods/${name}`)
      if (pod.status.phase === 'Failed') throw new Error(`pod ${name} has failed`)
      return pod.status.phase === 'Succeeded'
    },
    { timeoutMs: 120_000 },
  )
}
