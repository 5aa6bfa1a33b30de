import { expect, test } from 'vitest'
import { readCheckedCluster } from './load-cluster.ts'
import { shippedCatalog } from '../catalog/shipped-catalog.ts'

const noFiles = { readFile: async () => Promise.reject(new Error('no file')) }

async function check(spec: string): Promise<string[]> {
  const text = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
${spec}
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane] }
    - { name: w1, address: 10.0.0.2, roles: [worker] }
`
  const { findings } = await readCheckedCluster(noFiles, { file: 'cluster.yml', text }, shippedCatalog)
  return findings.flatMap(({ severity, code, path }) => (severity === 'error' ? [`${code} ${path}`] : []))
}

const workersPath = 'spec.workers.kubernetes'

test('workers may be up to three minors older', async () => {
  expect(await check('  kubernetes: 1.37.1')).toEqual([])
  for (const version of ['1.37.1', '1.37.0', '1.34.10'])
    expect(await check(`  kubernetes: 1.37.1\n  workers: { kubernetes: ${version} }`)).toEqual([])
})

test.each(['1.33.13', '1.37.2'])('workers of %s do not fit control planes of 1.37.1', async (version) => {
  expect(await check(`  kubernetes: 1.37.1\n  workers: { kubernetes: ${version} }`)).toEqual([
    `SPEC_WORKERS_VERSION ${workersPath}`,
  ])
})

test('an unknown version of workers is refused', async () => {
  const findings = await check('  kubernetes: 1.37.1\n  workers: { kubernetes: 1.20.0 }')
  expect(findings).toContain(`CATALOG_UNKNOWN_VERSION ${workersPath}`)
})

test('a bundle has no files of a second version', async () => {
  const bundle = '  kubernetes: 1.37.1\n  artifacts: { bundle: shop.bundle }'
  expect(await check(`${bundle}\n  workers: { kubernetes: 1.36.4 }`)).toEqual([
    `SPEC_WORKERS_VERSION ${workersPath}`,
  ])
  expect(await check(`${bundle}\n  workers: { kubernetes: 1.37.1 }`)).toEqual([])
})

test('settings of kubelets must suit both versions, those of API servers only the newer one', async () => {
  const gates = (component: string): string => `  kubernetes: 1.36.4
  workers: { kubernetes: 1.35.8 }
  components: { ${component}: { args: { feature-gates: MemoryManager=true } } }`
  expect(await check(gates('kubelet'))).toEqual([
    'FEATURE_GATE_REMOVED spec.components.kubelet.args.feature-gates',
  ])
  expect(await check(gates('apiServer').replaceAll('1.36.4', '1.35.9'))).toEqual([])
})
