import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import { listHostNames, parseShape } from '../../lab/cluster/shape.ts'
import { listEndpoints, openApi } from '../support/adoption/adoption-load.ts'
import {
  adoptCluster,
  compareHosts,
  formatDate,
  formatPageName,
  hostComparison,
  type HostsBefore,
  readClusterId,
  readHosts,
  readSuiteOptions,
  writeEvidence,
} from '../support/adoption/adoption-suite.ts'
import { type AdoptedCluster, requireFirstHost } from '../support/adoption/contender.ts'
import {
  compareEtcd,
  type EtcdContent,
  etcdComparison,
  readEtcdContent,
} from '../support/adoption/etcd-content.ts'
import {
  commandArguments,
  countEvents,
  type InterruptedMove,
  runInterruptedMove,
} from '../support/adoption/interrupted-move.ts'
import {
  type InterruptedRun,
  type MoveInterruption,
  moveInterruptionKinds,
  planMoveInterruptions,
} from '../support/adoption/move-interruption.ts'
import { waitForNodes } from '../support/adoption/nodes.ts'
import { SuiteSetup } from '../support/adoption/suite-setup.ts'
import { Workload } from '../support/adoption/workload.ts'
import { CountedWrites, findLostWrites } from '../support/counted-writes.ts'

const timeout = 3_600_000
const { contender, shape } = readSuiteOptions()
const seed = Number(process.env['ADOPT_SEED'] ?? randomInt(2 ** 31))
const roundCount = Number(process.env['ADOPT_ROUNDS'] ?? 20)
const rounds = planMoveInterruptions(seed, roundCount, listHostNames(parseShape(shape))).map(
  (interruption, index) => ({ round: index + 1, interruption }),
)
const writesPerSecond = 5

interface Result extends InterruptedMove {
  readonly interruption: MoveInterruption
  /** Duration of the next run in seconds. */
  readonly nextSeconds: number
  readonly acknowledged: number
  readonly lost: number
}

describe(`interrupted moves of ${contender.title}, ${shape}, ADOPT_SEED=${seed}`, () => {
  const setup = new SuiteSetup()
  let cluster: AdoptedCluster
  let api: KubeApi
  let workload: Workload
  let hostsBefore: HostsBefore
  let etcdBefore: EtcdContent
  let clusterId = ''
  const eventCounts = new Map<InterruptedRun['command'], number>()
  const results: Result[] = []

  const listNames = (): readonly string[] => cluster.hosts.map(({ name }) => name)

  /** Runs a command that must succeed. Returns its problems and its duration in seconds. */
  async function runNext(
    command: InterruptedRun['command'],
  ): Promise<{ problems: string[]; seconds: number }> {
    const started = performance.now()
    const end = await cluster.startWithEvents(() => undefined, ...commandArguments[command]).ended
    const seconds = (performance.now() - started) / 1000
    if (end.code === 0) return { problems: [], seconds }
    const last = end.events.slice(-5).map((event) => JSON.stringify(event))
    return {
      problems: [`the next ${command} ended with ${end.code}: ${last.join('\n')}${end.output}`],
      seconds,
    }
  }

  /** Lists what is wrong in a cluster whose hosts have all moved, or all returned. */
  async function findProblems(moved: boolean): Promise<string[]> {
    const nodes = await waitForNodes(api, cluster, moved ? listNames() : []).then(
      () => [],
      (error: unknown) => [String(error)],
    )
    const ready = await workload.waitUntilReady(api).then(
      () => [],
      (error: unknown) => [String(error)],
    )
    if (nodes.length + ready.length > 0) return [...nodes, ...ready]
    const data = await workload.findProblems(api)
    const id = await readClusterId(api)
    const problems = [...data, ...(id === clusterId ? [] : [`the id of the cluster became ${id}`])]
    if (moved) {
      const plan = await cluster.hyperkube('plan', '-f', cluster.path('cluster.yml'))
      return plan.code === 0
        ? problems
        : [...problems, `plan ended with ${plan.code}: ${plan.stdout}${plan.stderr}`]
    }
    const etcd = await readEtcdContent(requireFirstHost(cluster), cluster.etcdCredentials)
    return [...problems, ...(await compareHosts(cluster, hostsBefore)), ...compareEtcd(etcdBefore, etcd)]
  }

  beforeAll(async () => {
    process.stderr.write(`ADOPT_SEED=${seed}\n`)
    cluster = setup.use(
      await contender.create({
        name: `interrupt-${contender.name}`,
        shape,
        executable: inject('executable'),
        parts: ['agnhost', 'traefik'],
        survivesPowerCut: true,
      }),
    )
    api = openApi(cluster, cluster.credentials)
    setup.defer(() => api.close())
    workload = await Workload.create(cluster, api)
    await waitForNodes(api, cluster, [])
    await adoptCluster(cluster)
    hostsBefore = await readHosts(cluster)
    etcdBefore = await readEtcdContent(requireFirstHost(cluster), cluster.etcdCredentials)
    clusterId = await readClusterId(api)
    for (const command of ['up', 'rollback'] as const) {
      const { events, seconds } = await countEvents(cluster, command)
      process.stderr.write(`${command} without an interruption: ${events} events, ${seconds.toFixed(0)} s\n`)
      eventCounts.set(command, events)
      const problems = await findProblems(command === 'up')
      if (problems.length > 0) throw new Error(`after ${command}: ${problems.join('\n')}`)
    }
    setup.complete()
  }, timeout)
  afterAll(
    async () =>
      setup.end(async () =>
        writeEvidence(formatPageName('adopt-interruptions', contender, shape), formatEvidence()),
      ),
    timeout,
  )

  test.each(rounds)(
    'round $round: $interruption.run.command, $interruption.kind, then $interruption.run.next',
    { timeout },
    async ({ round, interruption }) => {
      const { run } = interruption
      const problems: string[] = []
      if (run.command === 'rollback') problems.push(...(await runNext('up')).problems)
      const [first, ...others] = listEndpoints(cluster).filter(({ host }) => host !== '127.0.0.1')
      if (first === undefined) throw new Error('the cluster has no API server')
      const target = { ...first, others, credentials: cluster.credentials }
      const writes = new CountedWrites('machine', target, writesPerSecond)
      const interrupted = await runInterruptedMove(cluster, interruption, eventCounts.get(run.command) ?? 0)
      const next = await runNext(run.next)
      problems.push(...interrupted.problems, ...next.problems, ...(await findProblems(run.next === 'up')))
      const figures = await writes.stop()
      const lost = await findLostWrites(api, figures)
      problems.push(...lost.map((name) => `the acknowledged write ${name} is lost`))
      if (run.next === 'up') {
        // The next round begins with hosts that have not moved.
        problems.push(...(await runNext('rollback')).problems, ...(await findProblems(false)))
      }
      const result: Result = {
        ...interrupted,
        problems,
        interruption,
        nextSeconds: next.seconds,
        acknowledged: figures.acknowledged.length,
        lost: lost.length,
      }
      results.push(result)
      process.stderr.write(`${[`${round}: ${formatResult(result)}`, ...problems].join('\n')}\n`)
      expect(problems).toEqual([])
    },
  )

  function formatResult({
    interruption,
    moment,
    ended,
    nextSeconds,
    acknowledged,
    lost,
    problems,
  }: Result): string {
    const { kind, run, host } = interruption
    return [
      run.command,
      kind,
      kind === 'operator-killed' ? '' : host,
      moment,
      ended,
      run.next,
      `${nextSeconds.toFixed(0)} s`,
      acknowledged,
      lost,
      problems.length === 0 ? 'yes' : 'no',
    ].join(' | ')
  }

  function formatEvidence(): string {
    const kinds = moveInterruptionKinds.map((kind) => {
      const ofKind = results.filter(({ interruption }) => interruption.kind === kind)
      return `| ${kind} | ${ofKind.length} | ${ofKind.filter(({ problems }) => problems.length > 0).length} |`
    })
    return `# Interrupted moves of ${contender.title}, ${shape}

Written by \`test/full/adopt-interruptions.test.ts\` on ${formatDate()}, with \`ADOPT_SEED=${seed}\`, which repeats the same points: ${contender.describe(shape)}
${results.length} of ${roundCount} planned rounds ran.

In each round no host has moved. \`hyperkube up\`, or \`hyperkube adopt rollback\` after an \`up\`, is interrupted at a random event: the operator's
command is killed, a host loses its power and starts again, or a host reaches neither its peers nor the operator for 60 seconds. The next command
follows at once, without being forced. A round passes when the next command ended with 0, all nodes were Ready and not cordoned, the workload was
ready with its data, no acknowledged write was lost, and the id of the cluster was the same. After \`up\`, \`hyperkube plan\` had no changes. After
the rollback, these were as before: ${hostComparison}; in etcd: ${etcdComparison}.

| interruption | rounds | failed |
|---|---|---|
${kinds.join('\n')}

| | interrupted | by | host | at this event | how it ended | then | time | acknowledged writes | lost | passed |
|---|---|---|---|---|---|---|---|---|---|---|
${results.map((result, index) => `| ${index + 1} | ${formatResult(result)} |`).join('\n')}
`
  }
})
