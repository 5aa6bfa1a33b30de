import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { expect, test } from 'vitest'
import { probe, type ProbePod, listProbePods } from '../../lab/bench/workload.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import type { KubernetesVersion } from '../../lab/components/parts.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll-until.ts'
import { openKubectl } from './kubectl.ts'
import { externalName } from './test-dns-server.ts'
import { resolveName, runInPod } from './pod-shell.ts'
import type { UpCluster } from './up-cluster.ts'

const site = 'shop.example'

/**
 * Tests that a new cluster is usable: names, metrics, ingress, volumes and addons. The probe pod must run on
 * every node.
 */
export function addonSuite(clusterNow: () => UpCluster, kubernetes: KubernetesVersion): void {
  const pods = async (): Promise<ProbePod[]> => listProbePods(clusterNow().api)

  test('names of services, of all pods behind one, of a pod, and outside the cluster, from every node', async () => {
    const { api } = clusterNow()
    await api.ensure('/api/v1/namespaces/default/services', headlessService)
    const all = await pods()
    const addresses = all.map(({ address }) => address).toSorted()
    for (const pod of all) {
      await pollUntil(
        `${pod.node} to know all pods behind the service`,
        async () => (await resolveName(api, pod, 'probe-pods')).length === all.length,
        { timeoutMs: 30_000 },
      )
      expect(await resolveName(api, pod, 'probe-pods')).toEqual(addresses)
      expect(await resolveName(api, pod, probe.name)).toEqual([probe.clusterIP])
      const podDnsName = `${pod.address.replaceAll('.', '-')}.default.pod.cluster.local`
      expect(await resolveName(api, pod, podDnsName)).toEqual([pod.address])
      expect(await resolveName(api, pod, externalName.name)).toEqual([externalName.address])
    }
  })

  test('the pods of CoreDNS are on different nodes', async () => {
    const nodes = await listNodeNames(clusterNow(), 'kube-system', 'k8s-app=kube-dns')
    expect(new Set(nodes).size).toBe(2)
  })

  test('with one pod of CoreDNS killed no lookup fails', async () => {
    const { api } = clusterNow()
    const pending = (await pods()).map(async (pod) => runInPod(api, pod, buildLookupScript(20)))
    const [first] = await listPodNames(clusterNow(), 'kube-system', 'k8s-app=kube-dns')
    await api.remove(`/api/v1/namespaces/kube-system/pods/${first}`, { gracePeriodSeconds: 0 })
    for (const output of await Promise.all(pending)) expect(output.trim()).toBe('20 ok, 0 failed')
  })

  test('kubectl top shows the usage of nodes and pods, over verified certificates', async () => {
    const cluster = clusterNow()
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
    expect((await kubectl.run('top', 'pods', '-A', '--no-headers')).stdout).toContain('coredns')
    const service = await cluster.api.text(
      '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io',
    )
    expect(JSON.parse(service).spec).not.toHaveProperty('insecureSkipTLSVerify')
  })

  test('an Ingress with a host and TLS is served at the address of every node', async () => {
    const { api, hosts, directory } = clusterNow()
    const { certificate, key } = await createSelfSigned(directory)
    await api.ensure('/api/v1/namespaces/default/secrets', buildTlsSecret(certificate, key))
    await api.ensure('/apis/networking.k8s.io/v1/namespaces/default/ingresses', ingress)
    const names = (await pods()).map(({ name }) => name)
    for (const { name, address } of hosts) {
      const hostname = await pollUntil(
        `${name} to serve ${site}`,
        async () => fetchSite(address, certificate),
        {
          timeoutMs: 60_000,
        },
      )
      expect(names, name).toContain(hostname)
    }
  })

  test('data that a pod writes into a volume claim is there for the next pod', async () => {
    const { api } = clusterNow()
    const word = randomUUID()
    await api.ensure('/api/v1/namespaces/default/persistentvolumeclaims', volumeClaim)
    await api.create(
      '/api/v1/namespaces/default/pods',
      buildPodWithClaim('writer', `echo ${word} > /data/word`),
    )
    await waitForPod(clusterNow(), 'writer')
    await api.remove('/api/v1/namespaces/default/pods/writer', { gracePeriodSeconds: 0 })
    await api.create('/api/v1/namespaces/default/pods', buildPodWithClaim('reader', 'cat /data/word'))
    await waitForPod(clusterNow(), 'reader')
    expect((await api.text('/api/v1/namespaces/default/pods/reader/log')).trim()).toBe(word)
    await api.remove('/api/v1/namespaces/default/pods/reader', { gracePeriodSeconds: 0 })
    await api.remove('/api/v1/namespaces/default/persistentvolumeclaims/notes')
  })

  test('addon list shows all addons as ready', async () => {
    const { code, stdout, stderr } = await clusterNow().hyperkube('addon', 'list', '-o', 'json')
    expect(code, stderr).toBe(0)
    const states = JSON.parse(stdout).addons.map(
      ({ name, state }: Record<string, string>) => `${name} ${state}`,
    )
    expect(states).toEqual(['coredns ready', 'metrics-server ready', 'traefik ready', 'local-path ready'])
  })

  test('a user’s addon is applied, changed, pruned and removed, and foreign objects are kept', async () => {
    const { api, operator, directory } = clusterNow()
    const file = join(directory, 'shop.yml')
    const readData = async (): Promise<Record<string, string>> => readConfigMaps(clusterNow(), 'shop')
    const runUp = async (): Promise<string> => (await operator.must(0, 'up', '--yes')).stderr
    await operator.edit((document) =>
      document.setIn(['spec', 'addons'], [{ name: 'shop', files: ['shop.yml'] }]),
    )
    await writeFile(
      file,
      formatManifests([namespace, buildConfigMap('one', 'a'), buildConfigMap('two', 'a')]),
    )
    expect(await runUp()).toContain('+ shop: 3 objects new')
    expect(await readData()).toEqual({ one: 'a', two: 'a' })
    // The label alone must not make hyperkube prune an object, because users may set the same labels.
    await api.create('/api/v1/namespaces/shop/configmaps', {
      ...buildConfigMap('theirs', 'b'),
      metadata: { name: 'theirs', labels: { 'hyperkube.dev/addon': 'shop' } },
    })

    await writeFile(file, formatManifests([namespace, buildConfigMap('one', 'c')]))
    const shown = await operator.must(3, 'addon', 'diff')
    expect(shown.stdout).toContain('data.word: "a" → "c"')
    expect(shown.stdout).toContain('- ConfigMap shop/two')
    await runUp()
    expect(await readData()).toEqual({ one: 'c', theirs: 'b' })

    await operator.edit((document) => document.deleteIn(['spec', 'addons']))
    const result = await operator.must(0, 'up', '--yes')
    expect(result.stderr).toContain('ADDON_NAMESPACE_IN_USE')
    expect(await readData()).toEqual({ theirs: 'b' })
    await api.remove('/api/v1/namespaces/shop/configmaps/theirs')
    await operator.must(0, 'up', '--yes')
    await pollUntil(
      'the namespace to be gone',
      async () =>
        api.text('/api/v1/namespaces/shop').then(
          () => false,
          () => true,
        ),
      {
        timeoutMs: 60_000,
      },
    )
  })

  test('a field of another owner is refused with both owners and a hint; force takes it over', async () => {
    const { operator, directory } = clusterNow()
    await using kubectl = await openKubectl(clusterNow(), kubernetes)
    const file = join(directory, 'shop.yml')
    const otherTeamFile = join(directory, 'theirs.yml')
    await writeFile(otherTeamFile, formatManifests([buildConfigMap('one', 'theirs', 'default')]))
    await kubectl.run('apply', '--server-side', '--field-manager=another-team', '-f', otherTeamFile)
    await writeFile(file, formatManifests([buildConfigMap('one', 'ours', 'default')]))
    const addon = { name: 'shop', files: ['shop.yml'] }
    await operator.edit((document) => document.setIn(['spec', 'addons'], [addon]))
    const refused = await operator.must(1, 'up', '--yes')
    expect(refused.stderr).toContain('.data.word is set by another-team, and by hyperkube to something else')
    expect(refused.stderr).toContain('force: true of addon shop')
    await operator.edit((document) => document.setIn(['spec', 'addons'], [{ ...addon, force: true }]))
    await operator.must(0, 'up', '--yes')
    expect(await readConfigMaps(clusterNow(), 'default')).toMatchObject({ one: 'ours' })
    await operator.edit((document) => document.deleteIn(['spec', 'addons']))
    await operator.must(0, 'up', '--yes')
    // The object existed before the addon, so it is not pruned.
    expect(await readConfigMaps(clusterNow(), 'default')).toHaveProperty('one')
  })

  test('drift of an addon is shown by plan and fixed by up', async () => {
    const { operator } = clusterNow()
    await using kubectl = await openKubectl(clusterNow(), kubernetes)
    await kubectl.run('-n', 'kube-system', 'delete', 'poddisruptionbudget', 'coredns')
    await kubectl.run('-n', 'kube-system', 'delete', 'ingressclass', 'traefik')
    const { stdout } = await operator.must(3, 'plan')
    expect(stdout).toContain('~ coredns: 1 object new')
    expect(stdout).toContain('+ PodDisruptionBudget kube-system/coredns')
    expect(stdout).toContain('+ IngressClass traefik')
    await operator.must(0, 'up', '--yes')
    await operator.must(0, 'plan')
  })
}

const headlessService = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'probe-pods' },
  spec: { clusterIP: 'None', selector: { app: probe.name }, ports: [{ port: probe.port }] },
}

const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }

function buildConfigMap(name: string, word: string, inNamespace = 'shop') {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: inNamespace }, data: { word } }
}

function formatManifests(all: readonly object[]): string {
  return all.map((one) => stringify(one)).join('---\n')
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

/** Returns the `word` of every ConfigMap in a namespace, by ConfigMap name. */
async function readConfigMaps({ api }: UpCluster, inNamespace: string): Promise<Record<string, string>> {
  const { items } = await api.get<{ items: { metadata: { name: string }; data?: { word?: string } }[] }>(
    `/api/v1/namespaces/${inNamespace}/configmaps`,
  )
  return Object.fromEntries(
    items.flatMap(({ metadata, data }) => (data?.word === undefined ? [] : [[metadata.name, data.word]])),
  )
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
