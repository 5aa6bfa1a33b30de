import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BusyCluster } from './busy-cluster.ts'
import { aloneFor, aloneRun, withoutAgents } from './heal-without-agents.ts'
import { askDoctor } from './heal-doctor.ts'
import {
  alonePart,
  aloneTable,
  evidenceText,
  faultsPart,
  type HealEvidence,
  healTable,
  type HealTrial,
  readEvidence,
} from './heal-evidence.ts'
import { type AloneResult, type HealResult, healResults, type HealRun, merged } from './heal-figures.ts'
import { type HealRow, turns } from './heal-row.ts'
import { healRun } from './heal-run.ts'
import { HealScene } from './heal-cluster.ts'
import type { UpCluster } from './up-cluster.ts'

/** Ends only what hangs: every wait within has its own end. */
const patience = { timeout: 3_600_000 }

export interface HealSuite {
  /** All that there are, and those of them that are run now. */
  readonly table: readonly HealRow[]
  readonly rows: readonly HealRow[]
  readonly trial: Omit<HealTrial, 'date' | 'hyperkube'>
  /** A file for what came of parts of the table, so that several commands make one of it. */
  readonly results: string | undefined
  /** Where what comes of the whole table is kept. */
  readonly evidence: string
}

/** Every fault of the table, one after the other. One that does not go well is told, and the others go on. */
export function faultsSuite(clusterNow: () => UpCluster, suite: HealSuite): void {
  const sceneNow = suiteScene(clusterNow)
  const results: HealResult[] = []
  /** After each row, so that whatever ends it early takes only the one that it is at. */
  const known = async (): Promise<HealResult[]> => {
    const all = merged(suite.table, await readResults(suite), results)
    if (suite.results !== undefined) await writeFile(suite.results, JSON.stringify(all))
    return all
  }
  afterAll(async () => {
    const all = await known()
    process.stderr.write(`${healTable(all)}\n`)
    if (all.length < suite.table.length) return
    const trial = await trialOf(clusterNow(), suite)
    await keep(suite, (former) => ({ ...former, faults: faultsPart(trial, all) }))
  })

  test('status and doctor have nothing to say of a cluster that is well', patience, async () => {
    expect(await isQuiet(sceneNow())).toBe(true)
  })

  test.each(suite.rows)('$what', patience, async (row) => {
    const scene = sceneNow()
    const { id, what, expects } = row
    const runs: HealRun[] = []
    results.push({ row: { id, what, expects }, runs })
    for (const name of turns(row)) {
      const run = await healRun(scene, row, scene.host(name))
      runs.push(run)
      process.stderr.write(`${row.id} ${JSON.stringify(run)}\n`)
    }
    await known()
    expect(runs.flatMap(({ host, wrong }) => wrong.map((text) => `${host}: ${text}`))).toEqual([])
  })

  test('nothing is left of it', patience, async () => {
    await sceneNow().forgetKept()
    await isQuiet(sceneNow())
    expect((await clusterNow().operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
  })
}

/** The same faults without agents: which of them only an agent heals. */
export function aloneSuite(clusterNow: () => UpCluster, suite: HealSuite): void {
  const sceneNow = suiteScene(clusterNow)
  const results: AloneResult[] = []
  afterAll(async () => {
    process.stderr.write(`${aloneTable(results)}\n`)
    if (suite.rows.length < suite.table.length) return
    const trial = await trialOf(clusterNow(), suite)
    await keep(suite, (former) => ({ ...former, alone: alonePart(trial, aloneFor, results) }))
  })

  test('systemd alone', { timeout: 2 * patience.timeout }, async () => {
    const scene = sceneNow()
    const api = scene.apiBeside(scene.host('cp1'))
    const busy = await BusyCluster.open(api, scene.host('w2'), scene.credentials)
    await using stack = new AsyncDisposableStack()
    stack.use(await withoutAgents(scene))
    const rows = suite.rows.filter(({ alone }) => alone)
    await Promise.all(
      lanes(rows).map(async (lane) => {
        for (const row of lane) {
          const result = await aloneRun(scene, row, scene.host(row.hosts[0] ?? ''))
          results.push(result)
          const { healed, wrong } = result
          process.stderr.write(`${row.id} alone: ${healed ?? 'not healed'} ${wrong.join('; ')}\n`)
        }
      }),
    )
    const place = ({ row }: AloneResult): number => rows.findIndex(({ id }) => id === row.id)
    results.sort((a, b) => place(a) - place(b))
    const { lost } = await busy.stop(api)
    expect(lost).toEqual([])
    expect(results.flatMap(({ row, wrong }) => wrong.map((text) => `${row.id}: ${text}`))).toEqual([])
  })
}

/** What is not healed takes all its time. Faults of a control plane and of a worker do not see each other: side by side. */
function lanes(rows: readonly HealRow[]): HealRow[][] {
  const isWorker = ({ hosts: [first = ''] }: HealRow): boolean => first.startsWith('w')
  return [rows.filter((row) => !isWorker(row)), rows.filter(isWorker)]
}

function suiteScene(clusterNow: () => UpCluster): () => HealScene {
  let scene: HealScene | undefined
  beforeAll(async () => {
    scene = await HealScene.of(clusterNow())
  })
  afterAll(() => scene?.[Symbol.dispose]())
  return () => {
    if (scene === undefined) throw new Error('the scene is not set yet')
    return scene
  }
}

/** Soon after whatever was before, neither of those who are asked has anything to say. */
export async function isQuiet(scene: HealScene): Promise<true> {
  await scene.quiet(180_000)
  expect((await askDoctor(scene.operator)).findings).toEqual([])
  const { code, stdout } = await scene.operator.hyperkube('status')
  expect(code, stdout).toBe(0)
  return true
}

async function trialOf({ operator }: UpCluster, { trial }: HealSuite): Promise<HealTrial> {
  const { stdout } = await operator.must(0, 'version')
  return { ...trial, date: new Date(), hyperkube: stdout.trim().split('\n')[0] ?? '' }
}

async function readResults({ results }: HealSuite): Promise<HealResult[]> {
  if (results === undefined) return []
  return healResults.parse(JSON.parse(await readFile(results, 'utf8').catch(() => '[]')))
}

async function keep({ evidence }: HealSuite, change: (former: HealEvidence) => HealEvidence): Promise<void> {
  const file = join(import.meta.dirname, '../../docs/evidence', evidence)
  const former = readEvidence(await readFile(file, 'utf8').catch(() => ''))
  await writeFile(file, evidenceText(change(former)))
}
