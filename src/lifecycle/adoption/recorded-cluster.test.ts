import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { z } from 'zod'
import { shippedCatalog } from '../../catalog/shipped-catalog.ts'
import { KubeError } from '../../kube/kube-error.ts'
import { readCluster } from '../../spec/read-cluster.ts'
import type { AdoptionReport } from './adoption-report.ts'
import { assessAdoption } from './assess-adoption.ts'
import { buildAdoptedCluster } from './cluster-settings.ts'
import type { AdoptionObservation } from './observation.ts'
import { type ApiReader, readAdoptedApi } from './read-api.ts'
import { parseAdoptedHost } from './read-host.ts'

/** Recorded from the lab on 2026-11-18: kubeadm 1.36.4, one control plane and one worker. */
const directory = join(import.meta.dirname, 'testdata/kubeadm-1.36.4')
const recorded = new Date('2026-11-18T08:05:00Z')

async function readRecorded(name: string): Promise<string> {
  return readFile(join(directory, name), 'utf8')
}

/** Creates a client that answers with recorded responses. */
async function createRecordedApi(): Promise<ApiReader & { readonly requests: string[] }> {
  const responses = z.record(z.string(), z.unknown()).parse(JSON.parse(await readRecorded('api.json')))
  const requests: string[] = []
  return {
    requests,
    request: async ({ method, path }) => {
      requests.push(`${method} ${path}`)
      if (path in responses) return responses[path]
      throw new KubeError('KUBE_NOT_FOUND', path)
    },
  }
}

async function readObservation(observed: Date): Promise<AdoptionObservation> {
  const { signal } = new AbortController()
  const addresses = { cp1: '10.210.0.11', w1: '10.210.0.12' }
  const hosts = await Promise.all(
    Object.entries(addresses).map(async ([name, address]) =>
      parseAdoptedHost(address, await readRecorded(`${name}.txt`)),
    ),
  )
  return {
    from: 'kubeadm',
    observed,
    name: 'kubernetes',
    hosts: hosts.flatMap((host) => host ?? []),
    unreadable: [],
    windowsHosts: [],
    api: await readAdoptedApi(await createRecordedApi(), signal),
    etcd: {
      confirmed: true,
      members: [{ name: 'cp1', peerUrls: ['https://10.210.0.11:2380'], learner: false, healthy: true }],
    },
  }
}

function assess(observation: AdoptionObservation): AdoptionReport {
  const minors = shippedCatalog.minors.map(({ minor }) => minor)
  const etcdVersions = new Map(shippedCatalog.minors.map(({ minor, components }) => [minor, components.etcd]))
  return assessAdoption(observation, { name: 'shop', minors, etcdVersions, findings: [] })
}

test('the API is only read', async () => {
  const api = await createRecordedApi()
  await readAdoptedApi(api, new AbortController().signal)
  expect(api.requests.length).toBeGreaterThan(5)
  expect(api.requests.filter((request) => !request.startsWith('GET '))).toEqual([])
})

test('a recorded kubeadm cluster can be adopted', async () => {
  const observation = await readObservation(recorded)
  const { items, hosts } = assess(observation)
  expect(items.filter(({ verdict }) => verdict === 'prevents')).toEqual([])
  expect(hosts.map(({ name, roles }) => `${name} ${roles.join()}`)).toEqual([
    'cp1 control-plane',
    'w1 worker',
  ])
  const text = items.map(({ verdict, code, message }) => `${verdict} ${code} ${message}\n`).join('')
  await expect(text).toMatchFileSnapshot('testdata/kubeadm-1.36.4/report.txt')
})

test('the cluster.yml of a recorded kubeadm cluster is valid', async () => {
  const document = buildAdoptedCluster(await readObservation(recorded), { name: 'shop', hostSsh: new Map() })
  const text = stringify(document)
  const { findings } = readCluster({ file: 'cluster.yml', text })
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
  await expect(text).toMatchFileSnapshot('testdata/kubeadm-1.36.4/cluster.txt')
})

test('two years later its certificates have expired', async () => {
  const { items } = assess(await readObservation(new Date('2028-11-18T08:05:00Z')))
  const codes = new Set(items.filter(({ verdict }) => verdict === 'prevents').map(({ code }) => code))
  expect([...codes]).toEqual(['ADOPT_CERTIFICATE_EXPIRED'])
})
