import { expect, test } from 'vitest'
import { runHyperkube } from '../testing/run-in-memory.ts'

const fleet = `apiVersion: hyperkube.dev/v1
kind: Fleet
metadata: { name: retail }
spec:
  clusters: [clusters/*/cluster.yml]
  defaults:
    - values:
        components:
          kubelet:
            maxPods: 60
    - select: { stage: canary }
      values:
        components:
          kubelet: { maxPods: 61, args: { v: 3 } }
`

function buildCluster(more = 'labels: { stage: canary }', spec = ''): string {
  return `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: berlin, fleet: ../../fleet.yml, ${more} }
spec:
  kubernetes: 1.37.1
  network: { policy: none }
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }
${spec}`
}

const file = 'clusters/berlin/cluster.yml'

async function validate(cluster: string, fleetText = fleet): Promise<string> {
  const { stdout } = await runHyperkube(`validate -f ${file}`, { [file]: cluster, 'fleet.yml': fleetText })
  return stdout
}

test('a cluster that names its fleet is valid alone', async () => {
  expect(await validate(buildCluster())).toContain('berlin is valid')
})

test('a fleet.yml in a parent directory has no effect on a cluster that does not name it', async () => {
  const invalid = 'this is not a fleet'
  expect(await validate(buildCluster().replace('fleet: ../../fleet.yml, ', ''), invalid)).toContain(
    'is valid',
  )
})

test('a finding about an inherited value has its position in fleet.yml', async () => {
  const stdout = await validate(
    buildCluster('').replace('  network: { policy: none }\n', ''),
    fleet.replace('components:', 'network: { policy: none }\n        components:'),
  )
  expect(stdout).toContain('fleet.yml:8:28: warning SPEC_NO_NETWORK_POLICY: spec.network.policy')
})

test('a problem of fleet.yml makes its clusters invalid', async () => {
  expect(await validate(buildCluster(), fleet.replace('maxPods: 60', 'maxPodz: 60'))).toContain(
    'fleet.yml:10:13: error SPEC_UNKNOWN_KEY',
  )
})

test('a missing fleet.yml is a finding of cluster.yml', async () => {
  const { stdout } = await runHyperkube(`validate -f ${file}`, { [file]: buildCluster() })
  expect(stdout).toContain(`${file}:3:34: error FLEET_NOT_READ: metadata.fleet`)
})

test('a fleet must list the clusters that name it', async () => {
  expect(await validate(buildCluster(), fleet.replace('clusters/*', 'other/*'))).toContain(
    'FLEET_CLUSTER_NOT_LISTED',
  )
})

test('the schema of fleet.yml is printed', async () => {
  const { stdout } = await runHyperkube('schema fleet')
  expect(JSON.parse(stdout)).toMatchObject({ $ref: '#/$defs/Fleet' })
})
