import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { BusyCluster } from '../support/busy-cluster.ts'
import { expectQuiet, HealCluster } from '../support/heal-cluster.ts'
import {
  formatEvidence,
  formatFaultsPart,
  formatHealTable,
  formatWithoutAgentsPart,
  formatWithoutAgentsTable,
  type HealEnvironment,
  type HealEvidence,
  splitEvidence,
} from '../support/heal-evidence.ts'
import {
  type HealResult,
  healResults,
  type HealRun,
  mergeResults,
  type WithoutAgentsResult,
} from '../support/heal-figures.ts'
import { assignHosts, type HealRow, selectRows } from '../support/heal-row.ts'
import { healRows } from '../support/heal-rows.ts'
import { runFault } from '../support/heal-run.ts'
import { setUpCluster } from '../support/suite-cluster.ts'
import type { UpCluster } from '../support/up-cluster.ts'

const [shape, kubernetes] = ['3+2', '1.37.1'] as const
const evidence = join(import.meta.dirname, '../../docs/evidence/healing.md')
/** Timeout for tests that hang. Every wait inside a test has its own, shorter timeout. */
const testOptions = { timeout: 3_600_000 }

/**
 * HEAL_ROWS=stop-etcd,nft-flushed selects faults. HEAL_RUNS=1 sets how often each fault runs. HEAL_ALONE=1
 * runs the faults without agents. HEAL_RESULTS names a file that collects the results of several test
 * commands. The evidence is written once this file has a result for every fault.
 */
const { HEAL_ROWS: rowNames, HEAL_RUNS: runCount, HEAL_ALONE: alone, HEAL_RESULTS: resultsFile } = process.env
const selectedRows = selectRows(healRows, { rows: rowNames, runs: runCount })

describe('faults of a cluster in use', () => {
  const clusterNow = setUpCluster('heal', shape, kubernetes, { survivesPowerCut: true })
  const healClusterNow = openHealCluster(clusterNow)
  if (alone === undefined) testFaults(clusterNow, healClusterNow)
  else testWithoutAgents(clusterNow, healClusterNow)
})

function testFaults(clusterNow: () => UpCluster, healClusterNow: () => HealCluster): void {
  const results: HealResult[] = []
  /** Saves the results after each fault, so an aborted run loses only the result of the current fault. */
  const saveResults = async (): Promise<HealResult[]> => {
    const all = mergeResults(healRows, await readResults(), results)
    if (resultsFile !== undefined) await writeFile(resultsFile, JSON.stringify(all))
    return all
  }
  afterAll(async () => {
    const all = await saveResults()
    process.stderr.write(`${formatHealTable(all)}\n`)
    if (all.length < healRows.length) return
    const environment = await readEnvironment(clusterNow())
    await writeEvidence((previous) => ({ ...previous, faults: formatFaultsPart(environment, all) }))
  })

  test('status and doctor report nothing about a healthy cluster', testOptions, async () => {
    expect(await expectQuiet(healClusterNow())).toBe(true)
  })

  test.each(selectedRows)('$what', testOptions, async (row) => {
    const healCluster = healClusterNow()
    const { id, what, expects } = row
    const runs: HealRun[] = []
    results.push({ row: { id, what, expects }, runs })
    for (const name of assignHosts(row)) {
      const run = await runFault(healCluster, row, healCluster.getHost(name))
      runs.push(run)
      process.stderr.write(`${row.id} ${JSON.stringify(run)}\n`)
    }
    await saveResults()
    expect(runs.flatMap(({ host, problems }) => problems.map((text) => `${host}: ${text}`))).toEqual([])
  })

  test('no trace of the faults remains', testOptions, async () => {
    await healClusterNow().removeBackups()
    await expectQuiet(healClusterNow())
    expect((await clusterNow().operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
  })
}

/** Runs the same faults without agents, to show which ones only an agent heals. */
function testWithoutAgents(clusterNow: () => UpCluster, healClusterNow: () => HealCluster): void {
  const results: WithoutAgentsResult[] = []
  afterAll(async () => {
    process.stderr.write(`${formatWithoutAgentsTable(results)}\n`)
    if (selectedRows.length < healRows.length) return
    const environment = await readEnvironment(clusterNow())
    await writeEvidence((previous) => ({
      ...previous,
      withoutAgents: formatWithoutAgentsPart(environment, withoutAgentsTimeoutMs, results),
    }))
  })

  test(
    'systemd and Kubernetes heal faults without agents',
    { timeout: 2 * testOptions.timeout },
    async () => {
      const healCluster = healClusterNow()
      const api = healCluster.getApiOfOther(healCluster.getHost('cp1'))
      const busy = await BusyCluster.open(api, healCluster.getHost('w2'), healCluster.credentials)
      await using stack = new AsyncDisposableStack()
      stack.use(await stopAgents(healCluster))
      const rows = selectedRows.filter(({ runWithoutAgents }) => runWithoutAgents)
      await Promise.all(
        groupRows(rows).map(async (group) => {
          for (const row of group) {
            const result = await runFaultWithoutAgents(
              healCluster,
              row,
              healCluster.getHost(row.hosts[0] ?? ''),
            )
            results.push(result)
            const { healed, problems } = result
            process.stderr.write(`${row.id} alone: ${healed ?? 'not healed'} ${problems.join('; ')}\n`)
          }
        }),
      )
      const rowIndex = ({ row }: WithoutAgentsResult): number => rows.findIndex(({ id }) => id === row.id)
      results.sort((a, b) => rowIndex(a) - rowIndex(b))
      const { lost } = await busy.stop(api)
      expect(lost).toEqual([])
      expect(results.flatMap(({ row, problems }) => problems.map((text) => `${row.id}: ${text}`))).toEqual([])
    },
  )
}

/**
 * Splits faults into those of control planes and those of workers. The two groups run in parallel to save
 * time: a fault that does not heal takes its whole timeout.
 */
function groupRows(rows: readonly HealRow[]): HealRow[][] {
  const isWorker = ({ hosts: [first = ''] }: HealRow): boolean => first.startsWith('w')
  return [rows.filter((row) => !isWorker(row)), rows.filter(isWorker)]
}

function openHealCluster(clusterNow: () => UpCluster): () => HealCluster {
  let healCluster: HealCluster | undefined
  beforeAll(async () => {
    healCluster = await HealCluster.open(clusterNow())
  })
  afterAll(() => healCluster?.[Symbol.dispose]())
  return () => {
    if (healCluster === undefined) throw new Error('the cluster is not open yet')
    return healCluster
  }
}

async function readEnvironment({ operator }: UpCluster): Promise<HealEnvironment> {
  const { stdout } = await operator.must(0, 'version')
  return { kubernetes, shape, date: new Date(), hyperkube: stdout.trim().split('\n')[0] ?? '' }
}

/** Reads the results that earlier test commands saved in the file HEAL_RESULTS. */
async function readResults(): Promise<HealResult[]> {
  if (resultsFile === undefined) return []
  return healResults.parse(JSON.parse(await readFile(resultsFile, 'utf8').catch(() => '[]')))
}

async function writeEvidence(change: (previous: HealEvidence) => HealEvidence): Promise<void> {
  const previous = splitEvidence(await readFile(evidence, 'utf8').catch(() => ''))
  await writeFile(evidence, formatEvidence(change(previous)))
}

/** Timeout in milliseconds for systemd and Kubernetes to heal a fault while agents are stopped. */
const withoutAgentsTimeoutMs = 90_000

/** Stops all agents; disposing the result starts them again. */
async function stopAgents(cluster: HealCluster): Promise<AsyncDisposable> {
  await cluster.runOnAllHosts(`systemctl stop hyperkube-agent
    [ "$(systemctl is-active hyperkube-agent || true)" != active ]`)
  return { [Symbol.asyncDispose]: async () => cluster.runOnAllHosts('systemctl start hyperkube-agent') }
}

/** Injects a fault while all agents are stopped, and measures whether it heals. */
async function runFaultWithoutAgents(
  cluster: HealCluster,
  row: HealRow,
  host: Host,
): Promise<WithoutAgentsResult> {
  const problems: string[] = []
  const recordProblem = (error: unknown): void =>
    void problems.push(error instanceof Error ? error.message : String(error))
  const waitUntilHealed = async (timeoutMs: number): Promise<number> => {
    const began = performance.now()
    await pollUntil(`${row.what} on ${host.name} to heal`, async () => row.isHealed(cluster, host), {
      timeoutMs,
      intervalMs: 300,
    })
    return performance.now() - began
  }
  let healed: number | undefined
  try {
    await row.inject(cluster, host)
    healed = await waitUntilHealed(withoutAgentsTimeoutMs).catch(() => undefined)
  } catch (error) {
    recordProblem(error)
  } finally {
    await row.undo(cluster, host).catch(recordProblem)
    // The next fault needs a healthy cluster.
    await waitUntilHealed(row.timeoutMs).catch(recordProblem)
  }
  return { row, healed, problems }
}
