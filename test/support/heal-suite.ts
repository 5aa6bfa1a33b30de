import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BusyCluster } from './busy-cluster.ts'
import { withoutAgentsTimeoutMs, runFaultWithoutAgents, stopAgents } from './heal-without-agents.ts'
import { runDoctor } from './heal-doctor.ts'
import {
  formatWithoutAgentsPart,
  formatWithoutAgentsTable,
  formatEvidence,
  formatFaultsPart,
  type HealEvidence,
  formatHealTable,
  type HealEnvironment,
  splitEvidence,
} from './heal-evidence.ts'
import {
  type WithoutAgentsResult,
  type HealResult,
  healResults,
  type HealRun,
  mergeResults,
} from './heal-figures.ts'
import { type HealRow, assignHosts } from './heal-row.ts'
import { runFault } from './heal-run.ts'
import { HealCluster } from './heal-cluster.ts'
import type { UpCluster } from './up-cluster.ts'

/** Timeout for tests that hang. Every wait inside a test has its own, shorter timeout. */
const testOptions = { timeout: 3_600_000 }

export interface HealSuiteOptions {
  /** All faults, and those to run now. */
  readonly table: readonly HealRow[]
  readonly rows: readonly HealRow[]
  readonly environment: Omit<HealEnvironment, 'date' | 'hyperkube'>
  /** File with the results so far. Several test commands can fill it. */
  readonly results: string | undefined
  /** Name of the evidence file. */
  readonly evidence: string
}

/** Runs the selected faults. After a failure the other faults still run. */
export function faultsSuite(clusterNow: () => UpCluster, suite: HealSuiteOptions): void {
  const healClusterNow = openHealCluster(clusterNow)
  const results: HealResult[] = []
  /** Saves the results after each fault, so an aborted run loses only the current one. */
  const saveResults = async (): Promise<HealResult[]> => {
    const all = mergeResults(suite.table, await readResults(suite), results)
    if (suite.results !== undefined) await writeFile(suite.results, JSON.stringify(all))
    return all
  }
  afterAll(async () => {
    const all = await saveResults()
    process.stderr.write(`${formatHealTable(all)}\n`)
    if (all.length < suite.table.length) return
    const environment = await readEnvironment(clusterNow(), suite)
    await writeEvidence(suite, (previous) => ({ ...previous, faults: formatFaultsPart(environment, all) }))
  })

  test('status and doctor report nothing about a healthy cluster', testOptions, async () => {
    expect(await expectQuiet(healClusterNow())).toBe(true)
  })

  test.each(suite.rows)('$what', testOptions, async (row) => {
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

  test('nothing is left of the faults', testOptions, async () => {
    await healClusterNow().removeBackups()
    await expectQuiet(healClusterNow())
    expect((await clusterNow().operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
  })
}

/** Runs the same faults without agents, to show which ones only an agent heals. */
export function withoutAgentsSuite(clusterNow: () => UpCluster, suite: HealSuiteOptions): void {
  const healClusterNow = openHealCluster(clusterNow)
  const results: WithoutAgentsResult[] = []
  afterAll(async () => {
    process.stderr.write(`${formatWithoutAgentsTable(results)}\n`)
    if (suite.rows.length < suite.table.length) return
    const environment = await readEnvironment(clusterNow(), suite)
    await writeEvidence(suite, (previous) => ({
      ...previous,
      withoutAgents: formatWithoutAgentsPart(environment, withoutAgentsTimeoutMs, results),
    }))
  })

  test('systemd alone', { timeout: 2 * testOptions.timeout }, async () => {
    const healCluster = healClusterNow()
    const api = healCluster.getApiOfOther(healCluster.getHost('cp1'))
    const busy = await BusyCluster.open(api, healCluster.getHost('w2'), healCluster.credentials)
    await using stack = new AsyncDisposableStack()
    stack.use(await stopAgents(healCluster))
    const rows = suite.rows.filter(({ runWithoutAgents }) => runWithoutAgents)
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
  })
}

/**
 * Groups faults by control planes and workers, which can run in parallel. A fault that does not heal takes
 * its whole timeout.
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

/** Waits until doctor has no findings, and expects that status reports no problem. */
export async function expectQuiet(healCluster: HealCluster): Promise<true> {
  await healCluster.waitUntilQuiet(180_000)
  expect((await runDoctor(healCluster.operator)).findings).toEqual([])
  const { code, stdout } = await healCluster.operator.hyperkube('status')
  expect(code, stdout).toBe(0)
  return true
}

async function readEnvironment(
  { operator }: UpCluster,
  { environment }: HealSuiteOptions,
): Promise<HealEnvironment> {
  const { stdout } = await operator.must(0, 'version')
  return { ...environment, date: new Date(), hyperkube: stdout.trim().split('\n')[0] ?? '' }
}

async function readResults({ results }: HealSuiteOptions): Promise<HealResult[]> {
  if (results === undefined) return []
  return healResults.parse(JSON.parse(await readFile(results, 'utf8').catch(() => '[]')))
}

async function writeEvidence(
  { evidence }: HealSuiteOptions,
  change: (previous: HealEvidence) => HealEvidence,
): Promise<void> {
  const file = join(import.meta.dirname, '../../docs/evidence', evidence)
  const previous = splitEvidence(await readFile(file, 'utf8').catch(() => ''))
  await writeFile(file, formatEvidence(change(previous)))
}
