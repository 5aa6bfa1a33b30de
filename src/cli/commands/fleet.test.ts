import { expect, test } from 'vitest'
import { fleetRunFormat } from '../../fleet/fleet-run.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { type CliResult, type InMemoryOptions, runHyperkube } from '../testing/run-in-memory.ts'

const fleetFile = `apiVersion: hyperkube.dev/v1
kind: Fleet
metadata: { name: retail }
spec:
  clusters: [clusters/*/cluster.yml]
  defaults:
    - values: { components: { kubelet: { maxPods: 60 } } }
  rollout: { waves: [1, 100%] }
`
const runFile = '/home/me/.local/state/hyperkube/fleets/retail/up.json'

function buildCluster(name: string, region: string, more = ''): string {
  return `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: ${name}, fleet: ../../fleet.yml, labels: { region: ${region} } }
spec:
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 10.0.0.1, roles: [control-plane, worker] }
${more}`
}

const files = {
  'fleet.yml': fleetFile,
  'clusters/berlin/cluster.yml': buildCluster('berlin', 'eu'),
  'clusters/boston/cluster.yml': buildCluster('boston', 'us'),
  'clusters/bonn/cluster.yml': buildCluster('bonn', 'eu'),
}

/** No cluster of this fleet has a lock or an identity, so commands fail before they connect to a host. */
async function run(
  commandLine: string,
  more: Readonly<Record<string, string>> = {},
  options: InMemoryOptions = {},
): Promise<CliResult> {
  return runHyperkube(commandLine, { ...files, ...more }, options)
}

function readRun({ files: all }: CliResult): ReturnType<typeof fleetRunFormat.newest.schema.parse> {
  return readVersioned(fleetRunFormat, JSON.parse(all.get(runFile) ?? 'null'))
}

test('status lists every cluster, also those that cannot be observed', async () => {
  const { code, stdout } = await run('fleet status -o json')
  expect(code).toBe(1)
  const { summary, items } = JSON.parse(stdout)
  expect(summary).toEqual({ unhealthy: 0, unknown: 3, degraded: 0, healthy: 0 })
  expect(items.map(({ name }: { name: string }) => name)).toEqual(['berlin', 'bonn', 'boston'])
  expect(items[0].problems[0]).toContain('cluster.identity does not exist')
})

test('status of a fleet with a broken cluster.yml shows the others', async () => {
  const { stdout } = await run('fleet status', {
    'clusters/bonn/cluster.yml': buildCluster('bonn', 'eu', '  hostz: 1\n'),
  })
  expect(stdout).toMatch(/^bonn +unknown .*SPEC_UNKNOWN_KEY/m)
  expect(stdout).toMatch(/^berlin +unknown/m)
  expect(stdout).toContain('  → hyperkube doctor -f clusters/berlin/cluster.yml')
})

test('--select chooses clusters by labels and names', async () => {
  const select = async (labels: string): Promise<string[]> =>
    JSON.parse((await run(`fleet status -o json --select ${labels}`)).stdout).items.map(
      ({ name }: { name: string }) => name,
    )
  expect(await select('region=eu')).toEqual(['berlin', 'bonn'])
  expect(await select('region=eu,name!=bonn')).toEqual(['berlin'])
  const nothing = await run('fleet status --select region=asia')
  expect(nothing.code).toBe(1)
  expect(nothing.stderr).toContain('FLEET_NOTHING_SELECTED')
})

test('up stops after the first wave that fails, and saves the run', async () => {
  const result = await run('fleet up --yes')
  expect(result.code).toBe(1)
  expect(result.stdout).toContain('retail: stopped: 1 failed, 2 not changed')
  expect(result.stdout).toContain('  → hyperkube fleet up --resume')
  const saved = readRun(result)
  expect(saved).toMatchObject({
    state: 'stopped',
    waves: [{ clusters: ['berlin'] }, { clusters: ['bonn', 'boston'] }],
  })
  expect(saved.clusters).toMatchObject({
    berlin: {
      state: 'failed',
      before: 'unknown',
      failure: { code: 'LOCK_NOT_READ', hint: expect.stringContaining('clusters/berlin/cluster.yml') },
    },
    bonn: { state: 'pending' },
    boston: { state: 'pending' },
  })
})

test('an unfinished run is neither forgotten nor repeated by accident', async () => {
  const first = await run('fleet up --yes')
  const more = { [runFile]: first.files.get(runFile) ?? '' }
  const again = await run('fleet up --yes', more)
  expect(again.code).toBe(1)
  expect(again.stderr).toContain('FLEET_RUN_UNFINISHED')
  expect(again.stderr).toContain('hyperkube fleet up --resume')
  expect((await run('fleet up --yes --restart', more)).stdout).toContain('stopped: 1 failed')
  expect((await run('fleet up --yes --resume', more)).stdout).toContain('stopped: 1 failed')
})

test('--resume without a run is refused', async () => {
  expect((await run('fleet up --yes --resume')).stderr).toContain('FLEET_NO_RUN')
})

test('a run of a living process is not started twice', async () => {
  const first = await run('fleet up --yes')
  const active = { ...readRun(first), state: 'running', holder: `me@here (process ${process.pid})` }
  const second = await run('fleet up --yes --resume', { [runFile]: JSON.stringify(active) })
  expect(second.stderr).toContain('FLEET_RUN_ACTIVE')
})

test('up with --max-failed continues after failures', async () => {
  const result = await run('fleet up --yes --max-failed 2')
  expect(result.stdout).toContain('retail: stopped: 3 failed')
  expect(Object.values(readRun(result).clusters).map(({ state }) => state)).toEqual([
    'failed',
    'failed',
    'failed',
  ])
})

test('up needs a confirmation', async () => {
  const result = await run('fleet up', {}, { replies: [false] })
  expect(result.code).toBe(3)
  expect(result.stderr).toContain('3 clusters in 2 waves; at most 5 at a time; stops after 1 failed cluster')
  expect(result.files.has(runFile)).toBe(false)
  expect((await run('fleet up')).code).toBe(2)
})

test('plan shows the inherited values with their lines', async () => {
  const { code, stdout } = await run('fleet plan')
  expect(code).toBe(1)
  expect(stdout).toContain('spec.components.kubelet.maxPods from fleet.yml:7')
  expect(stdout).toMatch(/^1 +berlin +failed/m)
})

test('nothing is changed if a selected cluster.yml has errors', async () => {
  const invalid = { 'clusters/bonn/cluster.yml': buildCluster('bonn', 'eu', '  hostz: 1\n') }
  const result = await run('fleet up --yes', invalid)
  expect(result.code).toBe(1)
  expect(result.stderr).toContain('clusters/bonn/cluster.yml:8:3: error SPEC_UNKNOWN_KEY')
  expect(result.files.has(runFile)).toBe(false)
  expect((await run('fleet up --yes --select region=us', invalid)).files.has(runFile)).toBe(true)
})

test.each([
  [
    'does not name the fleet',
    buildCluster('bonn', 'eu').replace('fleet: ../../fleet.yml, ', ''),
    'FLEET_NOT_NAMED',
  ],
  ['has the name of another', buildCluster('berlin', 'eu'), 'FLEET_CLUSTER_DUPLICATE'],
])('a cluster that %s is refused', async (_, text, code) => {
  const { stderr } = await run('fleet up --yes', { 'clusters/bonn/cluster.yml': text })
  expect(stderr).toContain(code)
})

test('a path without files is a finding of fleet.yml', async () => {
  const { stderr } = await run('fleet status', { 'fleet.yml': fleetFile.replace('clusters/*', 'cluster/*') })
  expect(stderr).toContain('fleet.yml:5:14: error FLEET_CLUSTER_NOT_FOUND')
})

test('upgrade needs a version', async () => {
  expect((await run('fleet upgrade')).code).toBe(2)
})
