import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { expect, test } from 'vitest'
import { probe, type ProbePod, probePods } from '../../lab/bench/workload.ts'
import { testImage } from '../../lab/cluster/artifacts.ts'
import type { KubernetesVersion } from '../../lab/components/parts.ts'
import { run } from '../../src/kit/command.ts'
import { until } from '../../src/kit/poll-until.ts'
import { kubectlOf } from './kubectl.ts'
import { outside } from './test-dns-server.ts'
import { lookUp, podScript } from './pod-shell.ts'
import type { UpCluster } from './up-cluster.ts'

const site = 'shop.example'

/** What a cluster is good for the minute it is up. It takes a cluster with the probe on every node. */
export function addonSuite(clusterNow: () => UpCluster, kubernetes: KubernetesVersion): void {
  const pods = async (): Promise<ProbePod[]> => probePods(clusterNow().api)

  test('names of services, of all pods behind one, of a pod, and of the world outside, from every node', async () => {
    const { api } = clusterNow()
    await api.ensure('/api/v1/namespaces/default/services', headless)
    const all = await pods()
    const addresses = all.map(({ address }) => address).toSorted()
    for (const pod of all) {
      await until(
        `${pod.node} to know all pods behind the service`,
        async () => (await lookUp(api, pod, 'probe-pods')).length === all.length,
        { within: 30_000 },
      )
      expect(await lookUp(api, pod, 'probe-pods')).toEqual(addresses)
      expect(await lookUp(api, pod, probe.name)).toEqual([probe.clusterIP])
      const named = `${pod.address.replaceAll('.', '-')}.default.pod.cluster.local`
      expect(await lookUp(api, pod, named)).toEqual([pod.address])
      expect(await lookUp(api, pod, outside.name)).toEqual([outside.address])
    }
  })

  test('the pods of CoreDNS are on different nodes', async () => {
    const nodes = await nodesOf(clusterNow(), 'kube-system', 'k8s-app=kube-dns')
    expect(new Set(nodes).size).toBe(2)
  })

  test('with one pod of CoreDNS killed no lookup fails', async () => {
    const { api } = clusterNow()
    const looking = (await pods()).map(async (pod) => podScript(api, pod, lookups(20)))
    const [first] = await namesOf(clusterNow(), 'kube-system', 'k8s-app=kube-dns')
    await api.remove(`/api/v1/namespaces/kube-system/pods/${first}`, { gracePeriodSeconds: 0 })
    for (const said of await Promise.all(looking)) expect(said.trim()).toBe('20 well, 0 failed')
  })

  test('kubectl top says what nodes and pods take, by way of certificates that are verified', async () => {
    const cluster = clusterNow()
    await using kubectl = await kubectlOf(cluster, kubernetes)
    const nodes = await until(
      'all nodes to be measured',
      async () => {
        const { stdout } = await kubectl.run('top', 'nodes', '--no-headers').catch(() => ({ stdout: '' }))
        const lines = stdout.trim().split('\n')
        return lines.length === cluster.hosts.length && !stdout.includes('unknown') && lines
      },
      { within: 120_000, every: 2000 },
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
    const { certificate, key } = await selfSigned(directory)
    await api.ensure('/api/v1/namespaces/default/secrets', tlsSecret(certificate, key))
    await api.ensure('/apis/networking.k8s.io/v1/namespaces/default/ingresses', ingress)
    const names = (await pods()).map(({ name }) => name)
    for (const { name, address } of hosts) {
      const answer = await until(`${name} to serve ${site}`, async () => fetchFrom(address, certificate), {
        within: 60_000,
      })
      expect(names, name).toContain(answer)
    }
  })

  test('what a pod writes into a claimed volume is there for the next one', async () => {
    const { api } = clusterNow()
    const word = randomUUID()
    await api.ensure('/api/v1/namespaces/default/persistentvolumeclaims', claim)
    await api.create('/api/v1/namespaces/default/pods', claimant('writer', `echo ${word} > /data/word`))
    await ended(clusterNow(), 'writer')
    await api.remove('/api/v1/namespaces/default/pods/writer', { gracePeriodSeconds: 0 })
    await api.create('/api/v1/namespaces/default/pods', claimant('reader', 'cat /data/word'))
    await ended(clusterNow(), 'reader')
    expect((await api.text('/api/v1/namespaces/default/pods/reader/log')).trim()).toBe(word)
    await api.remove('/api/v1/namespaces/default/pods/reader', { gracePeriodSeconds: 0 })
    await api.remove('/api/v1/namespaces/default/persistentvolumeclaims/notes')
  })

  test('addon list says that all of them are ready', async () => {
    const { code, stdout, stderr } = await clusterNow().hyperkube('addon', 'list', '-o', 'json')
    expect(code, stderr).toBe(0)
    const states = JSON.parse(stdout).addons.map(
      ({ name, state }: Record<string, string>) => `${name} ${state}`,
    )
    expect(states).toEqual(['coredns ready', 'metrics-server ready', 'traefik ready', 'local-path ready'])
  })

  test('a user’s addon is put there, changed, shrunk and removed, and nobody else’s objects with it', async () => {
    const { api, operator, directory } = clusterNow()
    const file = join(directory, 'shop.yml')
    const words = async (): Promise<Record<string, string>> => configMaps(clusterNow(), 'shop')
    const up = async (): Promise<string> => (await operator.must(0, 'up', '--yes')).stderr
    await operator.edit((document) =>
      document.setIn(['spec', 'addons'], [{ name: 'shop', files: ['shop.yml'] }]),
    )
    await writeFile(file, manifests([namespace, configMap('one', 'a'), configMap('two', 'a')]))
    expect(await up()).toContain('+ shop: 3 objects new')
    expect(await words()).toEqual({ one: 'a', two: 'a' })
    // A user may write whatever labels we write.
    await api.create('/api/v1/namespaces/shop/configmaps', {
      ...configMap('theirs', 'b'),
      metadata: { name: 'theirs', labels: { 'hyperkube.dev/addon': 'shop' } },
    })

    await writeFile(file, manifests([namespace, configMap('one', 'c')]))
    const shown = await operator.must(3, 'addon', 'diff')
    expect(shown.stdout).toContain('data.word: "a" → "c"')
    expect(shown.stdout).toContain('- ConfigMap shop/two')
    await up()
    expect(await words()).toEqual({ one: 'c', theirs: 'b' })

    await operator.edit((document) => document.deleteIn(['spec', 'addons']))
    const left = await operator.must(0, 'up', '--yes')
    expect(left.stderr).toContain('ADDON_NAMESPACE_IN_USE')
    expect(await words()).toEqual({ theirs: 'b' })
    await api.remove('/api/v1/namespaces/shop/configmaps/theirs')
    await operator.must(0, 'up', '--yes')
    await until(
      'the namespace to be gone',
      async () =>
        api.text('/api/v1/namespaces/shop').then(
          () => false,
          () => true,
        ),
      {
        within: 60_000,
      },
    )
  })

  test('a field that somebody else has set is told with both owners and the ways out; force takes it', async () => {
    const { operator, directory } = clusterNow()
    await using kubectl = await kubectlOf(clusterNow(), kubernetes)
    const file = join(directory, 'shop.yml')
    const theirs = join(directory, 'theirs.yml')
    await writeFile(theirs, manifests([configMap('one', 'theirs', 'default')]))
    await kubectl.run('apply', '--server-side', '--field-manager=another-team', '-f', theirs)
    await writeFile(file, manifests([configMap('one', 'ours', 'default')]))
    const wished = { name: 'shop', files: ['shop.yml'] }
    await operator.edit((document) => document.setIn(['spec', 'addons'], [wished]))
    const refused = await operator.must(1, 'up', '--yes')
    expect(refused.stderr).toContain('.data.word is set by another-team, and by hyperkube to something else')
    expect(refused.stderr).toContain('force: true of addon shop')
    await operator.edit((document) => document.setIn(['spec', 'addons'], [{ ...wished, force: true }]))
    await operator.must(0, 'up', '--yes')
    expect(await configMaps(clusterNow(), 'default')).toMatchObject({ one: 'ours' })
    await operator.edit((document) => document.deleteIn(['spec', 'addons']))
    await operator.must(0, 'up', '--yes')
    // It was there before the addon.
    expect(await configMaps(clusterNow(), 'default')).toHaveProperty('one')
  })

  test('what drifts in an addon is shown by plan, and mended by up', async () => {
    const { operator } = clusterNow()
    await using kubectl = await kubectlOf(clusterNow(), kubernetes)
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

const headless = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'probe-pods' },
  spec: { clusterIP: 'None', selector: { app: probe.name }, ports: [{ port: probe.port }] },
}

const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }

function configMap(name: string, word: string, inside = 'shop') {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: inside }, data: { word } }
}

function manifests(all: readonly object[]): string {
  return all.map((one) => stringify(one)).join('---\n')
}

/** Looks up a service so many times, and says how it went. */
function lookups(count: number): string {
  return `well=0; failed=0
    for i in $(seq ${count}); do
      if nslookup ${probe.name}.default.svc.cluster.local >/dev/null 2>&1; then well=$((well + 1)); else failed=$((failed + 1)); fi
      usleep 200000
    done
    echo "$well well, $failed failed"`
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly spec: { readonly nodeName: string }
  }[]
}

async function podsOf({ api }: UpCluster, inside: string, selector: string): Promise<PodList> {
  const query = new URLSearchParams({ labelSelector: selector })
  return api.get<PodList>(`/api/v1/namespaces/${inside}/pods?${query.toString()}`)
}

async function namesOf(cluster: UpCluster, inside: string, selector: string): Promise<string[]> {
  return (await podsOf(cluster, inside, selector)).items.map(({ metadata }) => metadata.name)
}

async function nodesOf(cluster: UpCluster, inside: string, selector: string): Promise<string[]> {
  return (await podsOf(cluster, inside, selector)).items.map(({ spec }) => spec.nodeName)
}

/** Words of the ConfigMaps that somebody of the test has made, by name. */
async function configMaps({ api }: UpCluster, inside: string): Promise<Record<string, string>> {
  const { items } = await api.get<{ items: { metadata: { name: string }; data?: { word?: string } }[] }>(
    `/api/v1/namespaces/${inside}/configmaps`,
  )
  return Object.fromEntries(
    items.flatMap(({ metadata, data }) => (data?.word === undefined ? [] : [[metadata.name, data.word]])),
  )
}

function tlsSecret(certificate: string, key: string): object {
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

async function selfSigned(
  directory: string,
): Promise<{ readonly certificate: string; readonly key: string }> {
  const [key, certificate] = [join(directory, 'site.key'), join(directory, 'site.crt')]
  await run([
    ...(['openssl', 'req', '-x509', '-nodes', '-days', '2', '-newkey', 'ec', '-pkeyopt'] as const),
    ...['ec_paramgen_curve:P-256', '-subj', `/CN=${site}`, '-addext', `subjectAltName=DNS:${site}`],
    ...['-keyout', key, '-out', certificate],
  ])
  return { certificate: await readFile(certificate, 'utf8'), key: await readFile(key, 'utf8') }
}

/** What the site says at a node; undefined unless it shows its own certificate. */
async function fetchFrom(address: string, authority: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { host: address, servername: site, ca: authority, headers: { host: site }, timeout: 5000 }
    const asked = request({ ...options, path: '/hostname', agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString() : undefined),
      )
    })
    asked.on('error', () => resolve(undefined))
    asked.on('timeout', () => asked.destroy())
    asked.end()
  })
}

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'notes' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Mi' } } },
}

function claimant(name: string, script: string): object {
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

async function ended({ api }: UpCluster, name: string): Promise<void> {
  await until(
    `pod ${name} to end well`,
    async () => {
      const pod = await api.get<{ status: { phase: string } }>(`/api/v1/namespaces/default/pods/${name}`)
      if (pod.status.phase === 'Failed') throw new Error(`pod ${name} has failed`)
      return pod.status.phase === 'Succeeded'
    },
    { within: 120_000 },
  )
}
