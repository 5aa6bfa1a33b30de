import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { BusyCluster, type BusyFigures } from './busy-cluster.ts'
import { parseCommand, formatFinding, rateNaming } from './heal-doctor.ts'
import type { HealRun } from './heal-figures.ts'
import type { HealRow } from './heal-row.ts'
import type { HealCluster } from './heal-cluster.ts'
import { compareServiceRuns, readServiceRuns } from './service-runs.ts'
import { HealObserver } from './heal-observer.ts'

const countedWritesPath = '/api/v1/namespaces/default/configmaps?labelSelector=counted'
/**
 * Maximum time until `doctor` names a fault that the agent cannot heal, and maximum time until `doctor` has
 * no findings again.
 */
const [namingTimeoutMs, quietTimeoutMs] = [150_000, 240_000]

/**
 * Injects one fault into a cluster in use and waits until doctor has no findings again. Problems are returned
 * in the result.
 */
export async function runFault(cluster: HealCluster, row: HealRow, host: Host): Promise<HealRun> {
  const problems: string[] = []
  const recordProblem = (error: unknown): undefined => void problems.push(formatThrown(error))
  const before = row.expectNoRestarts === true ? await readServiceRuns(cluster.hosts) : undefined
  const busy = await BusyCluster.open(
    cluster.getApiOfOther(host),
    selectClientHost(cluster, row, host),
    cluster.credentials,
  )
  await busy.waitForFirstResponses().catch(recordProblem)
  let timeline: FaultTimeline = { began: Date.now(), fixedAt: undefined, healedAt: undefined }
  const observer = new HealObserver(cluster, timeline.began)
  try {
    await row.inject(cluster, host)
    timeline = await runUntilHealed(cluster, row, host, { witness: observer, began: timeline.began })
  } catch (error) {
    recordProblem(error)
  } finally {
    await row.undo(cluster, host).catch(recordProblem)
    // If the fault did not heal, `undo` has repaired the host. Waits until the repair has taken effect.
    if (timeline.healedAt === undefined) await waitUntilHealed(cluster, row, host).catch(recordProblem)
    await observer[Symbol.asyncDispose]()
  }
  const figures = await busy.stop(cluster.getApiOfOther(host)).catch(recordProblem)
  await deleteWrites(cluster, host).catch(recordProblem)
  const restarts =
    before === undefined ? undefined : compareServiceRuns(before, await readServiceRuns(cluster.hosts))
  await cluster.waitUntilQuiet(quietTimeoutMs).catch(recordProblem)

  const { began, healedAt: end } = timeline
  const from = observer.detected ?? began
  const to = timeline.fixedAt ?? end ?? Date.now()
  const named = rateNaming(row, { host: host.name, from, to }, observer.reports)
  if (named === 'not first')
    recordProblem(`doctor said something else first: ${formatFirstFinding(observer) ?? 'nothing'}`)
  if (observer.doctorFailed !== undefined) recordProblem(observer.doctorFailed)
  for (const name of figures?.lost ?? []) recordProblem(`${name} was acknowledged and is lost`)
  for (const name of restarts?.others ?? [])
    recordProblem(`${name} was restarted, which this fault does not allow`)
  if (restarts !== undefined)
    for (const restart of observer.restarts) recordProblem(`an agent restarted ${restart}`)
  return {
    host: host.name,
    detected: observer.detected === undefined ? undefined : observer.detected - began,
    healed: end === undefined ? undefined : end - (timeline.fixedAt ?? began),
    ...toRunFigures(figures),
    actions: observer.actions,
    firstFinding: formatNaming(observer, row, host) ?? formatFirstFinding(observer),
    named,
    leaderRestarts: restarts?.leaders,
    problems,
  }
}

/** Times of a fault in milliseconds since 1970. */
interface FaultTimeline {
  readonly began: number
  /** Time at which the external cause ended or the operator's command had finished. */
  readonly fixedAt: number | undefined
  readonly healedAt: number | undefined
}

async function runUntilHealed(
  cluster: HealCluster,
  row: HealRow,
  host: Host,
  { witness: observer, began }: { readonly witness: HealObserver; readonly began: number },
): Promise<FaultTimeline> {
  if (row.expects === 'heals') {
    return { began, fixedAt: undefined, healedAt: await waitUntilHealed(cluster, row, host) }
  }
  const finding = await pollUntil(
    `doctor to name ${row.what} first`,
    async () => observer.findNaming(row, host.name),
    { timeoutMs: namingTimeoutMs },
  ).catch((error: unknown) => {
    throw new Error(`${formatThrown(error)}; it said ${formatFirstFinding(observer) ?? 'nothing'}`, {
      cause: error,
    })
  })
  if (row.expects === 'refuses') {
    if (finding.command === undefined) throw new Error('doctor does not say what to type')
    await cluster.operator.must(0, ...parseCommand(finding.command))
  } else {
    const minDurationMs = row.minDurationMs ?? 0
    await pollUntil('it to last', async () => Date.now() - began >= minDurationMs, {
      timeoutMs: minDurationMs + 60_000,
      intervalMs: 500,
    })
    await row.undo(cluster, host)
  }
  const fixedAt = Date.now()
  return { began, fixedAt, healedAt: await waitUntilHealed(cluster, row, host) }
}

/**
 * Waits until everything works and the agent reports the host as healthy. Returns the time at which both are
 * true.
 */
async function waitUntilHealed(cluster: HealCluster, row: HealRow, host: Host): Promise<number> {
  return pollUntil(
    `${row.what} on ${host.name} to heal`,
    async () => (await row.isHealed(cluster, host)) && (await cluster.isAgentHealthy(host)) && Date.now(),
    { timeoutMs: row.timeoutMs, intervalMs: 300 },
  )
}

/**
 * Selects the worker on which the clients run: the faulty worker, or another worker if the fault makes it
 * unreachable. For faults of control planes the clients run on w2.
 */
function selectClientHost(cluster: HealCluster, { clients }: HealRow, { name }: Host): Host {
  if (clients === 'there') return cluster.getHost(name.startsWith('w') ? name : 'w2')
  return cluster.getHost(name === 'w2' ? 'w1' : 'w2')
}

/**
 * Deletes the ConfigMaps that the clients of this run wrote. The next run counts its own writes and must not
 * find these.
 */
async function deleteWrites(cluster: HealCluster, host: Host): Promise<void> {
  await pollUntil(
    'the writes to be forgotten',
    async () => (await cluster.getApiOfOther(host).remove(countedWritesPath), true),
    {
      timeoutMs: 90_000,
      intervalMs: 1000,
    },
  )
}

function toRunFigures(
  figures: BusyFigures | undefined,
): Pick<HealRun, 'apiFailed' | 'serviceFailed' | 'acknowledged' | 'lost'> {
  return {
    apiFailed: figures?.api.failed.length ?? 0,
    serviceFailed: figures?.service.failed.length ?? 0,
    acknowledged: figures?.writes.acknowledged.length ?? 0,
    lost: figures?.lost.length ?? 0,
  }
}

function formatNaming(observer: HealObserver, row: HealRow, host: Host): string | undefined {
  const finding = observer.findNaming(row, host.name)
  return finding === undefined ? undefined : formatFinding(finding)
}

function formatFirstFinding({ firstFinding }: HealObserver): string | undefined {
  return firstFinding === undefined ? undefined : formatFinding(firstFinding)
}

function formatThrown(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
