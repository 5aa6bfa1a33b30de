import { type Finding, hasErrors } from '../../contract/finding.ts'
import { settleAll } from '../../kit/settle-all.ts'
import { clearingOps } from '../../lifecycle/removal-ops.ts'
import type { Foreseen } from '../../lifecycle/plan-document.ts'
import { resetHost } from '../../lifecycle/reset.ts'
import { toldStep } from '../../lifecycle/event-stream.ts'
import { nothing } from '../../lifecycle/build-proposal.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Host } from '../../spec/host.ts'
import { type Context, exitCodes, type Invocation } from '../command.ts'
import { summary } from '../plan/op-summary.ts'
import type { ReportedRun, Verdict } from '../run-with-progress.ts'
import { missingFindings } from '../up/unreachable-findings.ts'
import type { Reached } from '../up/connect.ts'
import { refused } from '../up/refused-result.ts'
import { underClaim } from '../up/operator-lock.ts'
import { listed } from '../format-text.ts'
import { agreedByName } from './confirm-by-name.ts'

export interface ResetScene extends Pick<Reached, 'wish' | 'crew'> {
  readonly context: Context
  readonly options: Invocation['options']
  /** Those that shall be as they were. */
  readonly hosts: readonly Host[]
  readonly flags: {
    readonly ignore: readonly string[]
    readonly forceUnlock: boolean
    /** Whether it is only shown. */
    readonly dryRun: boolean
    readonly mayAsk: boolean
  }
  readonly run: ReportedRun
  /** Hears what would be done, where it is only shown. */
  readonly foreseen: (what: Foreseen) => void
  /** From now on hosts are waited for, though somebody interrupts. */
  readonly begin: () => void
  readonly finished: (host: string) => void
}

/** Says what would be lost, asks, and takes everything of a cluster off some hosts. */
export async function takeApart(scene: ResetScene): Promise<Verdict> {
  const { context, options, wish, crew, hosts, flags, run } = scene
  const asked = new Set(hosts.map(({ name }) => name))
  const missing = new Map([...crew.missing].filter(([host]) => asked.has(host)))
  const findings = [...missingFindings(missing), ...lossFindings(wish.cluster, asked)].filter(
    ({ code }) => !flags.ignore.includes(code),
  )
  for (const finding of findings) run.tell({ type: 'finding', finding })
  if (hasErrors(findings)) return refused(findings)
  const there = [...asked].filter((host) => crew.sessions.has(host))
  run.say(warning(wish.cluster, there, asked.size === wish.cluster.spec.hosts.length))
  if (flags.dryRun) return rehearse(scene, findings, there)
  const answer = await agreedByName(context, options, wish.cluster.metadata.name, flags.mayAsk)
  if (answer !== true) return { code: answer, result: { outcome: 'unchanged' } }
  await carryOut(scene, there)
  const code = missing.size === 0 ? exitCodes.ok : exitCodes.changesPending
  return { code, result: { outcome: 'done' } }
}

const step = 'reset'

async function rehearse(
  { context, wish, crew, run, foreseen }: ResetScene,
  findings: readonly Finding[],
  there: readonly string[],
): Promise<Verdict> {
  const sessions = new Map([...crew.sessions].filter(([host]) => there.includes(host)))
  const ops = await clearingOps(wish.identity, sessions)
  for (const [host, own] of ops) run.say(`${host}\n${summary(own, context.paintProgress)}`)
  foreseen({ ...nothing, findings, ops, steps: [{ id: step, hosts: there }] })
  return { code: exitCodes.changesPending, result: { outcome: 'unchanged' } }
}

async function carryOut(scene: ResetScene, there: readonly string[]): Promise<void> {
  const { crew, flags, run, begin, finished } = scene
  begin()
  await underClaim(
    { ...scene, forceUnlock: flags.forceUnlock, minority: true },
    async ({ claim, leave }, signal) => {
      const told = { tell: run.tell, signal }
      run.tell({
        type: 'steps-planned',
        steps: [{ step, title: `reset ${listed(there)}`, hosts: [...there] }],
      })
      run.tell({ type: 'step-started', step })
      await toldStep(told, { step }, async () =>
        settleAll(
          there.flatMap((host) => {
            const session = crew.sessions.get(host)
            if (session === undefined) return []
            run.tell({ type: 'step-started', step }, { host })
            return [
              toldStep(told, { step, host }, async () => {
                await resetHost(session, claim, run.tell)
                leave(host)
                finished(host)
              }),
            ]
          }),
        ),
      )
    },
  )
}

/** Some members of etcd without the others: the rest of the cluster could lose its memory over it. */
function lossFindings({ spec }: Cluster, asked: ReadonlySet<string>): Finding[] {
  const members = spec.hosts
    .filter(({ roles }) => roles.some((role) => role !== 'worker'))
    .map(({ name }) => name)
  const going = members.filter((name) => asked.has(name))
  if (going.length === 0 || going.length === members.length) return []
  return [
    {
      code: 'RESET_CONTROL_PLANE',
      severity: 'error',
      message: `${listed(going)} would be taken from a control plane that goes on without knowing it`,
      hint: 'without --limit the whole cluster is reset; --ignore RESET_CONTROL_PLANE if the rest is lost anyway',
    },
  ]
}

function warning({ metadata }: Cluster, hosts: readonly string[], isAll: boolean): string {
  const what = isAll
    ? `the cluster ${metadata.name} ends, with all that runs in it and all that its etcd holds`
    : `${listed(hosts)}: all pods on it end`
  return `${what}; everything that hyperkube has put on ${listed(hosts)} is removed.\nData of pods in directories of a host stays there.\n`
}
