import { expect, test } from 'vitest'
import type { HttpRoute } from '../kit/http-route.ts'
import { readCluster } from '../spec/read-cluster.ts'
import { openClusterWeb } from './cluster-web.ts'

const refuse = (): never => {
  throw new Error('nothing is read')
}

async function openRoute(registry: string, network = ''): Promise<HttpRoute> {
  const address = network === '' ? '' : ", internalAddressIPv6: 'fd00::1'"
  const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  registries: [{ host: '${registry}', skipVerify: true }]
  proxy: { https: 'http://proxy.example:3128' }
  hosts: [{ name: cp1, address: 10.0.0.1, roles: [control-plane, worker]${address} }]
${network}`
  const { cluster } = readCluster({ file: 'cluster.yml', text })
  if (cluster === undefined) throw new Error('cluster.yml is invalid')
  const clients = { fetcher: { text: refuse, sha256: refuse }, web: { get: refuse } }
  const context = {
    ...{ connect: () => clients, readFile: refuse, exists: refuse, configDirectory: refuse },
    privateFiles: { read: refuse, mode: refuse, replace: refuse, create: refuse },
  }
  return (await openClusterWeb(context, { file: 'cluster.yml' }, cluster)).route
}

test.each([
  ['registry.example:5000', 'registry.example:5000'],
  // URLs do not contain the default port of https.
  ['Registry.example:443', 'registry.example'],
  ['[fd00::5]:5000', '[fd00::5]:5000'],
  ['docker.io', 'registry-1.docker.io'],
])('the settings of the registry %s apply to the host %s of URLs', async (registry, host) => {
  expect((await openRoute(registry)).servers).toEqual([{ host, ca: undefined, skipVerify: true }])
})

test('hosts are reached without the proxy, also at their IPv6 addresses', async () => {
  const network =
    "  network: { pods: [10.244.0.0/16, 'fd00:10:244::/56'], services: [10.96.0.0/16, 'fd00:10:96::/112'] }\n"
  const { proxy } = await openRoute('docker.io', network)
  expect(proxy?.no).toEqual(expect.arrayContaining(['10.0.0.1', 'fd00::1', 'cp1']))
})
