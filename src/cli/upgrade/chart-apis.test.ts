import { expect, test } from 'vitest'
import { checkUpgradePath } from '../../actions/plan-upgrade.ts'
import { shippedCatalog } from '../../catalog/shipped-catalog.ts'
import type { Lock } from '../../catalog/lock.ts'
import { readCluster } from '../../spec/read-cluster.ts'
import { createInMemoryContext } from '../testing/run-in-memory.ts'

const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.36.4
  addons: [{ name: web, chart: { path: web, version: 2.0.0 } }]
  hosts: [{ name: cp1, address: 10.0.0.1, roles: [control-plane] }]
`
const lock: Lock = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'Lock',
  kubernetes: '1.36.4',
  artifacts: [],
  images: {},
  charts: { web: { version: '2.0.0', sha256: 'a'.repeat(64) } },
}

/** Checks an upgrade to 1.37.1 with a chart whose ServiceCIDR has this API version, by Kubernetes version. */
async function findCodes(chooseApi: (kubernetes: string) => string): Promise<string[]> {
  const { cluster } = readCluster({ file: 'cluster.yml', text })
  if (cluster === undefined) throw new Error('cluster.yml is not valid')
  const { context } = createInMemoryContext({ 'cluster.yml': text })
  const charts = {
    ...context.charts,
    render: async (request: { readonly cluster: typeof cluster }) => {
      const apiVersion = chooseApi(request.cluster.spec.kubernetes)
      const manifest = JSON.stringify({ apiVersion, kind: 'ServiceCIDR', metadata: { name: 'web' } })
      return { text: manifest, repeatedText: manifest }
    },
  }
  const state = { kubernetes: '1.37.1', workers: '1.37.1', etcd: '3.7.3' }
  const findings = await checkUpgradePath(
    { context: { ...context, charts }, files: { file: 'cluster.yml' }, catalog: shippedCatalog },
    cluster,
    lock,
    {
      from: { kubernetes: '1.36.4', workers: '1.36.4' },
      steps: [{ ...state, isCurrent: false, needsSnapshot: true }],
    },
  )
  return findings.map(({ code, message }) => `${code}: ${message}`)
}

test('an upgrade checks the objects that a chart has for the new version of Kubernetes', async () => {
  const [problem, ...others] = await findCodes(() => 'networking.k8s.io/v1beta1')
  expect(problem).toContain('chart of addon web')
  expect(problem).toContain('ServiceCIDR')
  expect(others).toEqual([])
  const adapts = (kubernetes: string) => `networking.k8s.io/${kubernetes === '1.37.1' ? 'v1' : 'v1beta1'}`
  expect(await findCodes(adapts)).toEqual([])
})
